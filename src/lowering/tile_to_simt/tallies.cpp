#include "lowering/tile_to_simt/tallies.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "analysis/cost.h"
#include "ir/builder.h"

namespace enceladus::simt {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

// Clearing and adding a tally costs about one step for four elements: an atomic for each of them
// pays for it.
constexpr int64_t kAtomicsForElement = 4;
constexpr int64_t kFewestElements = 32, kMostElements = 4096;
// Parts of a program's shared memory that one tally and all of them take at most.
constexpr int64_t kPartOfOne = 8, kPartOfAll = 4;

bool is_atomic(const Operation& op) {
  return op.is(Opcode::kAtomicRmw) || op.is(Opcode::kAtomicCas);
}

bool is_inside(const Value* value, const Operation& loop) {
  const ir::Region* region =
      value->definition() ? value->definition()->parent() : value->argument_of();
  for (const Operation* around = region->parent(); around; around = around->parent_operation())
    if (around == &loop) return true;
  return false;
}

// Whether nothing in the loop may notice that the additions come when it ends: nothing else touches
// their memory, or waits for other programs.
bool may_delay(const Tally& tally, const Operation& loop, const analysis::MemoryEffects& effects) {
  if (is_inside(tally.base, loop)) return false;
  bool may = true;
  auto look = [&](const Operation* op) {
    may = may && !op->is(Opcode::kWhile) && !op->integer_or(AttributeName::kVolatile, 0) &&
          (!is_atomic(*op) || analysis::is_relaxed(*op));
    bool touches = analysis::reads_memory(*op) || analysis::writes_memory(*op);
    if (touches && !analysis::is_unseen_sum(*op))
      may = may && !effects.may_alias(*op, *tally.atomic);
  };
  for (const ir::Region* nested : loop.regions()) ir::walk(*nested, look);
  return may;
}

double turns_of(const Operation& loop) {
  std::optional<int64_t> bounds[3];
  for (int i = 0; i < 3; ++i) bounds[i] = ir::constant_integer(loop.operand(i));
  if (!bounds[0] || !bounds[1] || !bounds[2] || *bounds[2] == 0) return analysis::kAssumedTurns;
  return std::max(0.0,
                  static_cast<double>(*bounds[1] - *bounds[0]) / static_cast<double>(*bounds[2]));
}

std::optional<Tally> tally_of(const Operation& op, const analysis::MemoryEffects& effects,
                              int64_t shared_bytes) {
  if (!analysis::is_unseen_sum(op)) return std::nullopt;
  DType dtype = op.operand(1)->type().dtype();
  if (dtype != DType::kInt32 && dtype != DType::kUInt32) return std::nullopt;
  const Operation* pointer = op.operand(0)->definition();
  if (!pointer || !pointer->is(Opcode::kAddPtr)) return std::nullopt;
  const Operation* base = pointer->operand(0)->definition();
  if (!base || !base->is(Opcode::kSplat)) return std::nullopt;
  Tally tally{&op, &op, base->operand(0), pointer->operand(1), 0};
  double atomics = static_cast<double>(op.operand(0)->type().elements());
  for (const Operation* around = op.parent_operation(); around && !around->is(Opcode::kWhile);
       around = around->parent_operation()) {
    if (!around->is(Opcode::kFor)) continue;
    if (!may_delay(tally, *around, effects)) break;
    tally.scope = around;
    atomics *= turns_of(*around);
  }
  int64_t most = std::min(kMostElements, shared_bytes / kPartOfOne / byte_size(dtype));
  double elements = std::min(atomics / kAtomicsForElement, static_cast<double>(most));
  tally.elements = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(elements)));
  if (tally.elements < kFewestElements) return std::nullopt;
  return tally;
}

}  // namespace

Tallies::Tallies(const ir::Function& function, const SimtTarget& target) {
  if (!target.has_tallies) return;
  analysis::MemoryEffects effects(function);
  int64_t bytes = 0;
  ir::walk(function.body(), [&](const Operation* op) {
    std::optional<Tally> tally = tally_of(*op, effects, target.shared_bytes);
    if (!tally) return;
    bytes += tally->elements * byte_size(op->operand(1)->type().dtype());
    if (bytes <= target.shared_bytes / kPartOfAll) tallies_.emplace(op, *tally);
  });
}

const Tally* Tallies::of(const Operation& atomic) const {
  auto found = tallies_.find(&atomic);
  return found == tallies_.end() ? nullptr : &found->second;
}

std::vector<const Tally*> Tallies::of_scope(const Operation& scope) const {
  std::vector<const Tally*> found;
  for (const auto& [atomic, tally] : tallies_)
    if (tally.scope == &scope) found.push_back(&tally);
  std::ranges::sort(found, {}, [](const Tally* tally) { return tally->atomic->id(); });
  return found;
}

}  // namespace enceladus::simt
