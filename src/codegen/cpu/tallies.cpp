#include "codegen/cpu/tallies.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "analysis/cost.h"
#include "analysis/effects.h"

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using ir::Operation;

constexpr int64_t kSpareTallyBytes = 64;

// A tile of additions that a tally can take.
bool is_counting(const Operation& op) {
  if (!analysis::is_unseen_sum(op)) return false;
  const ir::Type& type = op.operand(1)->type();
  return type.is_tile() && is_integer(type.dtype()) && byte_size(type.dtype()) >= 4;
}

// Whether all that may touch the memory of the addition are additions of its type.
bool is_only_counted(const Operation& counting, const ir::Function& function,
                     const analysis::MemoryEffects& effects) {
  const DType dtype = counting.operand(1)->type().dtype();
  bool result = true;
  ir::walk(function.body(), [&](const Operation* op) {
    if (!analysis::reads_memory(*op) && !analysis::writes_memory(*op)) return;
    if (is_counting(*op) && op->operand(1)->type().dtype() == dtype) return;
    result = result && !effects.may_alias(*op, counting);
  });
  return result;
}

double additions_of(const Operation& op) {
  auto additions = static_cast<double>(op.operand(0)->type().elements());
  for (const Operation* around = op.parent_operation(); around; around = around->parent_operation())
    if (around->is(Opcode::kFor) || around->is(Opcode::kWhile))
      additions *= analysis::kAssumedTurns;
  return additions;
}

}  // namespace

Tallies::Tallies(const ir::Function& function) {
  if (function.options().debug) return;
  std::optional<analysis::MemoryEffects> effects;  // most kernels count nothing
  ir::walk(function.body(), [&](const Operation* op) {
    if (!is_counting(*op)) return;
    if (!effects) effects.emplace(function);
    const int parameter = effects->roots(*op).single();
    if (parameter < 0 || !is_only_counted(*op, function, *effects)) return;
    auto found = std::ranges::find(tallies_, parameter, &Tally::parameter);
    if (found == tallies_.end())
      found =
          tallies_.insert(found, {.parameter = parameter, .dtype = op->operand(1)->type().dtype()});
    found->additions += additions_of(*op);
    counting_[op] = static_cast<int>(found - tallies_.begin());
  });
  place();
}

void Tallies::place() {
  for (Tally& tally : tallies_) {
    const uint64_t most = static_cast<uint64_t>(kTallyBytes) / tallies_.size();
    const auto bytes = static_cast<int64_t>(std::bit_floor(most));
    tally.elements = bytes / byte_size(tally.dtype);
    tally.offset = scratch_bytes_;
    scratch_bytes_ += bytes + kSpareTallyBytes;
  }
}

int Tallies::of(const ir::Operation& op) const {
  const auto found = counting_.find(&op);
  return found == counting_.end() ? -1 : found->second;
}

}  // namespace enceladus::cpu
