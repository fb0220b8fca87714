#include "codegen/cpu/reports.h"

#include <llvm/IR/Module.h>

#include <cstddef>

#include "codegen/cpu/host_functions.h"
#include "codegen/cpu/ir_loops.h"
#include "codegen/cpu/lane_loop.h"
#include "ir/builder.h"
#include "ir/debug_text.h"
#include "support/cpu_abi.h"

namespace enceladus::cpu {
namespace {

using llvm::Value;

// The program's three indices, in the frame.
Value* program_in_memory(KernelState& kernel) {
  llvm::IRBuilder<>& builder = kernel.builder();
  llvm::AllocaInst* memory = kernel.allocate(llvm::ArrayType::get(builder.getInt32Ty(), 3));
  for (uint64_t axis = 0; axis < 3; ++axis)
    builder.CreateStore(kernel.program[axis],
                        builder.CreateConstGEP1_64(builder.getInt32Ty(), memory, axis));
  return memory;
}

Value* bits_of_element(KernelState& kernel, Value* value, const ir::Type& type) {
  llvm::IRBuilder<>& builder = kernel.builder();
  if (type.is_pointer()) return builder.CreatePtrToInt(value, builder.getInt64Ty());
  Value* bits = to_memory(kernel.emission, value, type.dtype());
  llvm::Type* word = builder.getIntNTy(8u * static_cast<unsigned>(byte_size(type.dtype())));
  return builder.CreateZExt(builder.CreateBitCast(bits, word), builder.getInt64Ty());
}

void call_host(KernelState& kernel, const char* name, llvm::ArrayRef<Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  llvm::FunctionCallee callee = kernel.emission.module.getOrInsertFunction(
      name, llvm::FunctionType::get(kernel.builder().getVoidTy(), types, false));
  kernel.builder().CreateCall(callee, arguments);
}

}  // namespace

void emit_print(KernelState& kernel, const ir::Operation* op, int part, Value* value,
                llvm::ArrayRef<Value*> position) {
  llvm::IRBuilder<>& builder = kernel.builder();
  Value* program = program_in_memory(kernel);
  Value* text = builder.CreateGlobalStringPtr(ir::print_label(*op, part));
  if (value == nullptr)
    return call_host(kernel, "enceladus_cpu_print_text", {kernel.launch, program, text});
  const ir::Type element = op->operand(part)->type().element();
  const DType shown = element.is_pointer() ? DType::kUInt64 : element.dtype();
  Value* indices = kernel.allocate(llvm::ArrayType::get(builder.getInt32Ty(), ir::kMaxRank));
  llvm::SmallVector<Value*, 8> lanes = {value};
  lanes.append(position.begin(), position.end());
  emit_lane_loop(kernel, lanes, builder.getVoidTy(), [&](llvm::ArrayRef<Value*> elements) {
    for (size_t axis = 1; axis < elements.size(); ++axis)
      builder.CreateStore(elements[axis],
                          builder.CreateConstGEP1_64(builder.getInt32Ty(), indices, axis - 1));
    const bool is_hex = op->integer_or(ir::AttributeName::kHex, 0) != 0;
    call_host(
        kernel, "enceladus_cpu_print_element",
        {kernel.launch, program, text, builder.getInt32(static_cast<uint32_t>(position.size())),
         indices, builder.getInt32(static_cast<uint32_t>(shown) | (is_hex ? 256u : 0u)),
         bits_of_element(kernel, elements[0], element)});
    return static_cast<Value*>(nullptr);
  });
}

void emit_assertion(KernelState& kernel, const ir::Operation* op, llvm::ArrayRef<Value*> operands) {
  if (!kernel.function.options().debug) return;
  llvm::IRBuilder<>& builder = kernel.builder();
  Value* failed = builder.CreateNot(operands[0]);
  if (operands[1] != nullptr) failed = builder.CreateAnd(failed, operands[1]);
  emit_if(builder, any_lane(builder, failed), [&] {
    call_host(kernel, "enceladus_cpu_failed",
              {kernel.launch, builder.getInt32(0),
               builder.CreateGlobalStringPtr(ir::assertion_text(*op)), program_in_memory(kernel)});
  });
}

namespace {

const char* access_name(const ir::Operation* access) {
  switch (access->record().effect) {
    case ir::Effect::kRead:
      return "load from";
    case ir::Effect::kWrite:
      return "store to";
    default:
      return "atomic on";
  }
}

Value* extent_slot(KernelState& kernel, int slot) {
  llvm::IRBuilder<>& builder = kernel.builder();
  llvm::IRBuilderBase::InsertPointGuard guard(builder);
  builder.SetInsertPoint(kernel.allocas);
  Value* extents = builder.CreateLoad(
      builder.getPtrTy(),
      builder.CreateConstGEP1_64(builder.getInt8Ty(), kernel.launch, offsetof(CpuLaunch, extents)));
  return builder.CreateLoad(
      builder.getInt64Ty(),
      builder.CreateConstGEP1_64(builder.getInt64Ty(), extents, static_cast<uint64_t>(slot)));
}

}  // namespace

Value* checkable_offset(KernelState& kernel, Value* offset) {
  if (!kernel.function.options().debug) return offset;
  llvm::IRBuilder<>& builder = kernel.builder();
  Value* cut = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, offset,
                                             integer_like(offset, kFarthestElement));
  return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, cut,
                                       integer_like(offset, -kFarthestElement));
}

Value* emit_bounds_check(KernelState& kernel, const ir::Operation* access, Value* pointers,
                         Value* mask, llvm::ArrayRef<Value*> position) {
  if (!kernel.function.options().debug) return mask;
  const int parameter = kernel.effects.roots(*access).single();
  if (parameter < 0) return mask;
  llvm::IRBuilder<>& builder = kernel.builder();
  const int64_t bytes = byte_size(access->operand(0)->type().dtype());
  Value* low = extent_slot(kernel, 2 * parameter);
  Value* high = extent_slot(kernel, 2 * parameter + 1);
  Value* first =
      builder.CreatePtrToInt(pointers, with_lanes_of(builder.getInt64Ty(), pointers->getType()));
  auto spread = [&](Value* scalar) { return in_lanes_of(builder, scalar, first->getType()); };
  Value* last = builder.CreateAdd(first, integer_like(first, bytes));
  Value* inside = builder.CreateAnd(builder.CreateICmpUGE(first, spread(low)),
                                    builder.CreateICmpULE(last, spread(high)));
  Value* outside = builder.CreateNot(inside);
  if (mask != nullptr) outside = builder.CreateAnd(outside, mask);
  emit_if(builder, any_lane(builder, outside), [&] {
    const std::string text = ir::place_of(*access) + ": " + access_name(access) + " `" +
                             kernel.function.parameters()[parameter].name + "`";
    Value* message = builder.CreateGlobalStringPtr(text);
    Value* program = program_in_memory(kernel);
    llvm::SmallVector<Value*, 8> lanes = {outside, first};
    lanes.append(position.begin(), position.end());
    Value* indices = kernel.allocate(llvm::ArrayType::get(builder.getInt32Ty(), ir::kMaxRank));
    emit_lane_loop(kernel, lanes, builder.getVoidTy(), [&](llvm::ArrayRef<Value*> elements) {
      emit_if(builder, elements[0], [&] {
        for (size_t axis = 2; axis < elements.size(); ++axis)
          builder.CreateStore(elements[axis],
                              builder.CreateConstGEP1_64(builder.getInt32Ty(), indices, axis - 2));
        call_host(kernel, "enceladus_cpu_out_of_bounds",
                  {kernel.launch, program, message, elements[1], low, high,
                   builder.getInt64(static_cast<uint64_t>(bytes)),
                   builder.getInt32(static_cast<uint32_t>(position.size())), indices});
      });
      return static_cast<Value*>(nullptr);
    });
  });
  return mask != nullptr ? builder.CreateAnd(mask, inside) : inside;
}

}  // namespace enceladus::cpu
