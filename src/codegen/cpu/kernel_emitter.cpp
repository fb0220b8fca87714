#include "codegen/cpu/kernel_emitter.h"

#include <algorithm>
#include <cstddef>

#include "codegen/cpu/ir_loops.h"
#include "codegen/cpu/kernel_state.h"
#include "codegen/cpu/object_code.h"
#include "codegen/cpu/region_emitter.h"
#include "codegen/cpu/tally_emitter.h"
#include "support/cpu_abi.h"

namespace enceladus::cpu {
namespace {

using llvm::Value;

constexpr uint64_t kSpareBytes = 64;

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const HostTarget& host, const KernelPlan& plan)
      : builder_(module.getContext()),
        effects_(plan.function),
        kernel_{.function = plan.function,
                .plan = plan.loops,
                .effects = effects_,
                .emission = {builder_, module, host, plan.function.options().math_mode},
                .dot_loops = plan.dot_loops,
                .tallies = plan.tallies,
                .scalars = std::vector<Value*>(plan.function.value_count(), nullptr)} {
    builder_.setFastMathFlags(flags_of(plan.function.options().math_mode));
  }

  void emit(const std::string& entry, const std::array<int32_t, 3>& walk) {
    llvm::Type* pointer = builder_.getPtrTy();
    llvm::Type* word = builder_.getInt64Ty();
    auto* type =
        llvm::FunctionType::get(builder_.getVoidTy(), {pointer, word, word, pointer}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, entry,
                                            kernel_.emission.module);
    function->setDoesNotThrow();
    if (has_products()) function->addFnAttr(kHasProducts);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "entry", function));
    kernel_.launch = function->getArg(0);
    kernel_.header = function->getArg(3);
    kernel_.allocas = builder_.CreateAlloca(builder_.getInt8Ty());  // marks their place
    kernel_.spare = kernel_.allocate(llvm::ArrayType::get(builder_.getInt8Ty(), kSpareBytes));
    llvm::cast<llvm::AllocaInst>(kernel_.spare)->setAlignment(llvm::Align(kSpareBytes));
    kernel_.scratch = byte_offset(kernel_.header, kScratchHeaderBytes);
    kernel_.dot_scratch =
        byte_offset(kernel_.scratch, static_cast<uint64_t>(kernel_.plan.scratch_bytes));
    kernel_.tally_scratch =
        byte_offset(kernel_.dot_scratch, static_cast<uint64_t>(kernel_.dot_loops.scratch_bytes));
    fetch_arguments();
    emit_tallies(kernel_, function->getArg(1), function->getArg(2));
    kernel_.abandoned = kernel_.new_block("abandoned");
    emit_programs(function->getArg(1), function->getArg(2), walk);
    builder_.CreateBr(kernel_.abandoned);
    builder_.SetInsertPoint(kernel_.abandoned);
    builder_.CreateRetVoid();
  }

 private:
  // No flag lets NaN or infinity go wrong, not even in the fast mode: our own reductions and
  // exponentials use both.
  static llvm::FastMathFlags flags_of(ir::MathMode mode) {
    llvm::FastMathFlags flags;
    if (mode != ir::MathMode::kPrecise) flags.setAllowContract();
    if (mode == ir::MathMode::kFast) {
      flags.setAllowReassoc();
      flags.setAllowReciprocal();
      flags.setNoSignedZeros();
      flags.setApproxFunc();
    }
    return flags;
  }

  bool has_products() const {
    bool result = false;
    ir::walk(kernel_.function.body(),
             [&](const ir::Operation* op) { result = result || op->is(ir::Opcode::kDot); });
    return result;
  }

  Value* byte_offset(Value* base, uint64_t bytes) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base, bytes);
  }

  void fetch_arguments() {
    Value* slots = builder_.CreateLoad(
        builder_.getPtrTy(), byte_offset(kernel_.launch, offsetof(CpuLaunch, parameters)));
    const auto parameters = kernel_.function.parameters();
    for (size_t index = 0; index < parameters.size(); ++index) {
      const ir::Value* argument = kernel_.function.body().argument(static_cast<int>(index));
      kernel_.scalars[argument->id()] = fetch(parameters[index], byte_offset(slots, 8 * index));
    }
    Value* flags = builder_.CreateLoad(builder_.getInt32Ty(),
                                       byte_offset(kernel_.launch, offsetof(CpuLaunch, flags)));
    kernel_.is_streaming =
        builder_.CreateIsNotNull(builder_.CreateAnd(flags, builder_.getInt32(kCpuFlagStreaming)));
    kernel_.abandoned_at = builder_.CreateLoad(
        builder_.getPtrTy(), byte_offset(kernel_.launch, offsetof(CpuLaunch, abandoned)));
    kernel_.ticket = builder_.CreateLoad(builder_.getInt64Ty(),
                                         byte_offset(kernel_.launch, offsetof(CpuLaunch, ticket)));
    for (uint64_t axis = 0; axis < 3; ++axis)
      kernel_.grid[axis] = builder_.CreateLoad(
          builder_.getInt32Ty(), byte_offset(kernel_.launch, offsetof(CpuLaunch, grid) + 4 * axis));
  }

  Value* fetch(const ir::ParameterInfo& parameter, Value* slot) {
    const ir::Type& type = parameter.type;
    if (parameter.equal_to_1 && type.is_integer())
      return llvm::ConstantInt::get(register_type(builder_.getContext(), type), 1);
    Value* loaded = builder_.CreateLoad(memory_type(builder_.getContext(), type), slot);
    return type.is_pointer() ? loaded : from_memory(kernel_.emission, loaded, type.dtype());
  }

  // How many axes of the walk are counted: up to the last one whose place in the grid is read.
  size_t counted_axes(const std::array<int32_t, 3>& walk) const {
    bool is_read[3] = {};
    ir::walk(kernel_.function.body(), [&](const ir::Operation* op) {
      if (op->is(ir::Opcode::kProgramId)) is_read[op->integer(ir::AttributeName::kAxis)] = true;
      const bool reports = op->is(ir::Opcode::kDevicePrint) || op->is(ir::Opcode::kDeviceAssert);
      if (reports || kernel_.function.options().debug) std::ranges::fill(is_read, true);
    });
    size_t count = 3;
    while (count > 0 && !is_read[walk[count - 1]]) --count;
    return count;
  }

  void emit_programs(Value* first, Value* last, const std::array<int32_t, 3>& walk) {
    Values start;
    for (size_t digit = 0; digit < counted_axes(walk); ++digit) {
      const auto axis = static_cast<uint64_t>(walk[digit]);
      const uint64_t place = offsetof(CpuScratchHeader, start) + 4 * axis;
      start.push_back(
          builder_.CreateLoad(builder_.getInt32Ty(), byte_offset(kernel_.header, place)));
    }
    const LoopBounds bounds{.begin = first, .end = last, .is_entered = true};
    emit_carrying_loop(builder_, bounds, start, [&](Value*, llvm::ArrayRef<Value*> program) {
      for (size_t digit = 0; digit < program.size(); ++digit)
        kernel_.program[walk[digit]] = program[digit];
      kernel_.emit_abandonment_test();
      open_tallies(kernel_);
      emit_region(kernel_, kernel_.function.body());
      return next_program(program, walk);
    });
  }

  // Counts the axes like the digits of a number, without division.
  Values next_program(llvm::ArrayRef<Value*> program, const std::array<int32_t, 3>& walk) {
    Value* zero = builder_.getInt32(0);
    Value* carry = builder_.getInt32(1);
    Values next;
    for (size_t digit = 0; digit < program.size(); ++digit) {
      Value* stepped = builder_.CreateAdd(program[digit], carry);
      if (digit == 2) {
        next.push_back(stepped);
        break;
      }
      Value* wraps = builder_.CreateICmpEQ(stepped, kernel_.grid[walk[digit]]);
      next.push_back(builder_.CreateSelect(wraps, zero, stepped));
      if (digit + 1 < program.size()) carry = builder_.CreateZExt(wraps, builder_.getInt32Ty());
    }
    return next;
  }

  llvm::IRBuilder<> builder_;
  analysis::MemoryEffects effects_;
  KernelState kernel_;
};

}  // namespace

void emit_kernel(llvm::Module& module, const HostTarget& host, const KernelPlan& plan) {
  KernelEmitter(module, host, plan).emit(plan.entry, plan.walk);
}

}  // namespace enceladus::cpu
