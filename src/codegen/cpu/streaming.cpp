#include "codegen/cpu/streaming.h"

#include <algorithm>

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using llvm::Value;

bool is_store(const ir::Operation* op) {
  return op->is(Opcode::kStore) || op->is(Opcode::kDescriptorStore);
}

// Whether the value is computed from arrays here, so that reads and writes of memory take turns.
// Values that wait in scratch or in the first-level cache are better written through the caches.
bool reads_array(const LaneEvaluator& evaluator, const ir::Value* value) {
  const ir::Operation* op = value == nullptr ? nullptr : value->definition();
  if (op == nullptr || !value->type().is_tile() || evaluator.is_stored(value)) return false;
  if (op->record().effect == ir::Effect::kRead) return true;
  return std::ranges::any_of(
      op->operands(), [&](const ir::Value* operand) { return reads_array(evaluator, operand); });
}

// Vectors that follow one another without a gap: only then is each line written whole, by
// neighbouring turns.
bool is_dense(const Address& address, const LaneEvaluator& evaluator) {
  return address.base != nullptr && address.base_level < evaluator.inner_level() &&
         address.offset.level < evaluator.inner_level() && address.offset.is_contiguous() &&
         address.offset.step == evaluator.lanes();
}

// The pieces of all turns' vectors are aligned when the first vector is.
Value* is_aligned(LaneEvaluator& evaluator, const Address& address, const ir::Type& element) {
  llvm::IRBuilder<>& builder = evaluator.kernel().builder();
  Address first = address;
  first.offset.step = 0;
  Value* bits =
      builder.CreatePtrToInt(evaluator.element_pointer(first, element), builder.getInt64Ty());
  const uint64_t bytes = evaluator.streaming_alignment(element).value();
  return builder.CreateIsNull(builder.CreateAnd(bits, builder.getInt64(bytes - 1)));
}

}  // namespace

Value* streaming_condition(LaneEvaluator& evaluator, const loop::Group& group,
                           const std::vector<int>& views) {
  KernelState& kernel = evaluator.kernel();
  if (evaluator.lanes() == 1) return nullptr;
  Value* condition = nullptr;
  for (const loop::Root& root : group.roots) {
    if (root.kind == loop::RootKind::kWrite) continue;
    if (root.kind != loop::RootKind::kEffect || !is_store(root.op)) return nullptr;
    if (!reads_array(evaluator, root.op->operand(1))) return nullptr;
    const int parameter = kernel.effects.roots(*root.op).single();
    if (parameter < 0 || kernel.effects.is_read(parameter)) return nullptr;
    const Address address = root.op->is(Opcode::kStore)
                                ? evaluator.address(root.op->operand(0), views.front())
                                : evaluator.descriptor_address(root.op, views.front());
    if (!is_dense(address, evaluator)) return nullptr;
    const ir::Type element = ir::Type::number(root.op->operand(0)->type().dtype());
    Value* aligned = is_aligned(evaluator, address, element);
    condition = kernel.builder().CreateAnd(condition ? condition : kernel.is_streaming, aligned);
  }
  return condition;
}

}  // namespace enceladus::cpu
