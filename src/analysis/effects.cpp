#include "analysis/effects.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace enceladus::analysis {
namespace {

using ir::Effect;
using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Value;

constexpr int kMaxParameters = 63;

bool is_address(const Value* value) {
  return value->type().is_pointer() || value->type().is_descriptor();
}

bool is_index_arithmetic(const Value* value) {
  if (value->type().rank() == 0) return true;
  const Operation* op = value->definition();
  if (op == nullptr) return false;
  switch (op->opcode()) {
    case Opcode::kConstant:
    case Opcode::kArange:
    case Opcode::kSplat:
      return true;
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kAddPtr:
    case Opcode::kCast:
    case Opcode::kHint:
    case Opcode::kBroadcast:
    case Opcode::kExpandDims:
    case Opcode::kReshape:
    case Opcode::kTranspose:
      return std::all_of(op->operands().begin(), op->operands().end(), is_index_arithmetic);
    default:
      return false;
  }
}

// Offsets of a descriptor access; empty for others.
std::span<Value* const> offsets_of(const Operation& op) {
  if (op.is(Opcode::kDescriptorLoad)) return op.operands().subspan(1);
  if (op.is(Opcode::kDescriptorStore)) return op.operands().subspan(2);
  return {};
}

}  // namespace

int Roots::single() const {
  return !anything && std::has_single_bit(parameters) ? std::countr_zero(parameters) : -1;
}

bool is_relaxed(const Operation& atomic) {
  const std::string_view semantics = atomic.text(ir::AttributeName::kSemantics);
  // The language's default is acq_rel for single elements, and none for tiles.
  if (semantics.empty()) return atomic.operand(0)->type().is_tile();
  return semantics == "relaxed";
}

bool is_unseen_sum(const Operation& op) {
  return op.is(Opcode::kAtomicRmw) && !op.result()->has_users() && is_relaxed(op) &&
         op.enumerator<ir::AtomicKind>(ir::AttributeName::kAtomic) == ir::AtomicKind::kAdd;
}

bool reads_memory(const Operation& op) {
  return op.record().effect == Effect::kRead || op.record().effect == Effect::kReadWrite;
}

bool writes_memory(const Operation& op) {
  return op.record().effect == Effect::kWrite || op.record().effect == Effect::kReadWrite;
}

bool same_elements(const Operation& first, const Operation& second) {
  const Value* pointer = first.operand(0);
  if (pointer != second.operand(0)) return false;
  if (!pointer->type().is_descriptor()) return is_index_arithmetic(pointer);
  return std::ranges::equal(offsets_of(first), offsets_of(second));
}

MemoryEffects::MemoryEffects(const ir::Function& function)
    : arrays_disjoint_(function.options().arrays_disjoint), roots_(function.value_count()) {
  for (const Value* value : function.body().arguments()) {
    if (!is_address(value)) continue;
    bool known = value->index() < kMaxParameters;
    roots_[value->id()] =
        known ? Roots{.parameters = uint64_t{1} << value->index()} : Roots{.anything = true};
  }
  region(function.body());
  ir::walk(function.body(), [&](const Operation* op) {
    if (reads_memory(*op)) read_ = read_ | roots(*op);
    if (writes_memory(*op)) written_ = written_ | roots(*op);
  });
}

Roots MemoryEffects::roots(const Value* pointer) const {
  return pointer->id() < roots_.size() ? roots_[pointer->id()] : Roots{.anything = true};
}

Roots MemoryEffects::roots(const Operation& access) const {
  if (access.is(Opcode::kCooperativeMultiply))
    return roots(access.operand(0)) | roots(access.operand(1));
  return reads_memory(access) || writes_memory(access) ? roots(access.operand(0)) : Roots();
}

bool MemoryEffects::may_alias(const Operation& a, const Operation& b) const {
  return may_alias(roots(a), roots(b));
}

bool MemoryEffects::may_alias(const Value* pointer, const Operation& access) const {
  return may_alias(roots(pointer), roots(access));
}

bool MemoryEffects::may_alias(const Roots& x, const Roots& y) const {
  if (x == Roots() || y == Roots()) return false;
  return !arrays_disjoint_ || x.anything || y.anything || (x.parameters & y.parameters) != 0;
}

bool MemoryEffects::must_keep_order(const Operation& a, const Operation& b) const {
  return (writes_memory(a) || writes_memory(b)) && may_alias(a, b);
}

bool MemoryEffects::contains(const Roots& roots, int parameter) {
  if (roots.anything || parameter >= kMaxParameters) return roots != Roots();
  return (roots.parameters >> parameter) & 1;
}

bool MemoryEffects::merge(const Value* value, const Roots& roots) {
  Roots& own = roots_[value->id()];
  Roots both = own | roots;
  bool changed = both != own;
  own = both;
  return changed;
}

bool MemoryEffects::region(const Region& region) {
  bool changed = false;
  for (const Operation* op : region) changed |= operation(*op);
  return changed;
}

// Merges what the operation hands on; whether that told anything new.
bool MemoryEffects::operation(const Operation& op) {
  bool changed = false;
  auto pass = [&](const Value* to, const Value* from) {
    if (is_address(to)) changed |= merge(to, roots_[from->id()]);
  };
  if (op.is(Opcode::kFor) || op.is(Opcode::kWhile)) {
    int skipped = op.is(Opcode::kFor) ? 1 : 0;
    const Region& body = *op.regions().back();
    // What a round hands on may be new to the next one: as often as that is so.
    for (bool again = true; again;) {
      again = false;
      for (int i = 0; i < op.result_count(); ++i) {
        pass(body.argument(i + skipped), op.operand(i + (skipped ? 3 : 0)));
        pass(body.argument(i + skipped), body.terminator()->operand(i));
        pass(op.region(0)->argument(i + skipped), body.argument(i + skipped));
        pass(op.result(i), body.argument(i + skipped));
      }
      for (const Region* nested : op.regions()) again |= region(*nested);
      changed |= again;
    }
    return changed;
  }
  for (const Region* nested : op.regions()) changed |= region(*nested);
  if (op.is(Opcode::kIf)) {
    for (int i = 0; i < op.result_count(); ++i)
      for (const Region* nested : op.regions())
        pass(op.result(i), nested->terminator()->operand(i));
    return changed;
  }
  for (const Value* result : op.results()) {
    if (!is_address(result)) continue;
    bool found = false;
    for (const Value* operand : op.operands()) {
      if (!operand || !is_address(operand) || reads_memory(op)) continue;
      pass(result, operand);
      found = true;
    }
    if (!found) changed |= merge(result, {.anything = true});
  }
  return changed;
}

}  // namespace enceladus::analysis
