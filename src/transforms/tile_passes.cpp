#include "transforms/tile_passes.h"

#include "transforms/carried_offsets.h"
#include "transforms/cse.h"
#include "transforms/dce.h"
#include "transforms/fold.h"
#include "transforms/fold_ranges.h"
#include "transforms/licm.h"
#include "transforms/simplify_control.h"
#include "transforms/widen_offsets.h"

namespace enceladus::transforms {
namespace {

constexpr TilePass kPasses[] = {
    {"carried_offsets", split_carried_offsets},
    {"cse", merge_common_subexpressions},
    {"dce", remove_dead_code},
    {"fold", fold},
    {"fold_ranges", fold_ranges},
    {"licm", hoist_loop_invariants},
    {"simplify_control", simplify_control},
    {"widen_offsets", widen_offsets},
};

}  // namespace

std::span<const TilePass> tile_passes() { return kPasses; }

const TilePass* find_tile_pass(std::string_view name) {
  for (const TilePass& pass : kPasses)
    if (pass.name == name) return &pass;
  return nullptr;
}

void optimize(ir::Function& function,
              const std::function<void(std::string_view pass)>& after_pass) {
  auto run = [&](std::string_view name) {
    bool changed = find_tile_pass(name)->run(function);
    if (after_pass) after_pass(name);
    return changed;
  };
  run("widen_offsets");
  run("fold");
  if (run("simplify_control")) run("fold");
  run("cse");
  run("licm");
  bool again = run("carried_offsets");
  if (run("fold_ranges") || again) {
    run("fold");
    run("simplify_control");
    run("fold");
    run("cse");
    run("licm");
  }
  run("dce");
}

}  // namespace enceladus::transforms
