// The part of LaneEvaluator that reads and writes memory: arrays, and tiles in scratch.

#include <algorithm>

#include "codegen/cpu/lane_evaluator.h"
#include "codegen/cpu/reports.h"
#include "codegen/cpu/scalar_emitter.h"
#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::cpu {

using ir::Opcode;
using llvm::Value;

namespace {

llvm::Align alignment_of(const ir::Type& element) {
  return llvm::Align(static_cast<uint64_t>(element_bytes(element)));
}

// A block access: where its offsets stand among the operands.
int first_offset(const ir::Operation* access) {
  return access->is(Opcode::kDescriptorLoad) ? 1 : 2;
}

const ir::Operation* descriptor_of(const ir::Operation* access) {
  const ir::Operation* made = access->operand(0)->definition();
  ENC_CHECK(made != nullptr && made->is(Opcode::kMakeDescriptor),
            "a descriptor that control flow chooses");
  return made;
}

}  // namespace

// --- addresses
// --------------------------------------------------------------------------------------

Address LaneEvaluator::address(const ir::Value* pointer, int view) {
  if (pointer->type().is_scalar()) return {.base = kernel_.scalar(pointer)};
  const ir::Operation* op = pointer->definition();
  if (op != nullptr && !is_stored(pointer)) {
    switch (op->opcode()) {
      case Opcode::kSplat:
      case Opcode::kHint:
        return address(op->operand(0), view);
      case Opcode::kBroadcast:
      case Opcode::kExpandDims:
      case Opcode::kReshape:
      case Opcode::kTranspose:
        return address(op->operand(0), operand_view(op, view));
      case Opcode::kAddPtr: {
        Address found = address(op->operand(0), view);
        const auto offset = affine(op->operand(1), view, Precision::kUnlimited);
        if (found.base != nullptr && offset) {
          found.offset = add(found.offset, *offset);
          return found;
        }
        const ir::Type element = ir::Type::number(pointer->type().dtype());
        Value* pointers = pointers_of(found, element);
        Value* offsets = checkable_offset(kernel_, as_vector(exact_offset(op->operand(1), view)));
        Value* moved =
            kernel_.builder().CreateGEP(memory_type(kernel_.context(), element), pointers, offsets);
        return {.pointers = {moved, lanes_ == 1, inner_level()}};
      }
      default:
        break;
    }
  }
  const Lanes lanes = evaluate(pointer, view);
  if (lanes.is_uniform) return {.base = lanes.value, .base_level = lanes.level};
  return {.pointers = lanes};
}

Address LaneEvaluator::buffer_address(int buffer, int view) {
  Address result;
  result.base = at_level(0, [&] { return kernel_.buffer_address(buffer); });
  const std::vector<int64_t>& strides = kernel_.plan.buffers[buffer].strides;
  const Index index = index_of(view);
  for (size_t axis = 0; axis < index.size(); ++axis)
    result.offset = add(result.offset, scaled(index[axis], strides[axis]));
  return result;
}

Address LaneEvaluator::descriptor_address(const ir::Operation* access, int view) {
  const ir::Operation* made = descriptor_of(access);
  const Index index = index_of(view);
  const int rank = static_cast<int>(index.size());
  Address result{.base = kernel_.scalar(made->operand(0))};
  for (int axis = 0; axis < rank; ++axis) {
    const ir::Value* offset = access->operand(first_offset(access) + axis);
    const ir::Value* stride = made->operand(1 + rank + axis);
    const Affine position = add(index[axis], *affine(offset, view, Precision::kUnlimited));
    const Affine step = *affine(stride, view, Precision::kUnlimited);
    if (const auto product = affine_product(position, step)) {
      result.offset = add(result.offset, *product);
      continue;
    }
    // Lanes of several rows with a stride that only run time knows.
    Affine rest = position;
    rest.pattern.clear();
    result.offset = add(result.offset, *affine_product(rest, step));
    Affine lanes;
    lanes.pattern = position.pattern;
    Value* numbers = as_vector(lanes_of(lanes, kernel_.builder().getInt64Ty()));
    Value* strides = as_vector(uniform_part(step));
    Value* offsets = kernel_.builder().CreateMul(numbers, strides);
    const Value* so_far = result.pointers.value;
    result.pointers = {
        so_far ? kernel_.builder().CreateAdd(result.pointers.value, offsets) : offsets, false,
        inner_level()};
  }
  if (result.pointers.value == nullptr) return result;
  const ir::Type element = ir::Type::number(access->operand(0)->type().dtype());
  Value* offsets = result.pointers.value;
  result.pointers = {};
  Value* pointers = pointers_of(result, element);
  Value* moved =
      kernel_.builder().CreateGEP(memory_type(kernel_.context(), element), pointers, offsets);
  return {.pointers = {moved, false, inner_level()}};
}

Lanes LaneEvaluator::descriptor_mask(const ir::Operation* access, int view) {
  if (assumed_.contains({access, view})) return {.level = inner_level()};
  const ir::Operation* made = descriptor_of(access);
  const Index index = index_of(view);
  llvm::IRBuilder<>& builder = kernel_.builder();
  Lanes mask;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    const int number = static_cast<int>(axis);
    const ir::Value* offset = access->operand(first_offset(access) + number);
    Affine position = add(index[axis], *affine(offset, view, Precision::kUnlimited));
    llvm::SmallVector<int64_t, 16> pattern;
    std::swap(pattern, position.pattern);
    const Lanes start = uniform_part(position);
    Value* size = at_level(0, [&] { return exact_integer(kernel_, made->operand(1 + number)); });
    // 0 <= start + pattern < size, in 32 bits a lane: the bounds are cut to what patterns reach.
    Affine numbers;
    numbers.pattern = pattern;
    const Lanes lane_numbers = lanes_of(numbers, builder.getInt32Ty());
    auto bounded = [&](Value* bound) {
      bound = builder.CreateBinaryIntrinsic(
          llvm::Intrinsic::smax, bound,
          builder.getInt64(static_cast<uint64_t>(int64_t{-0x40000000})));
      bound =
          builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, bound, builder.getInt64(0x40000000));
      return builder.CreateTrunc(bound, builder.getInt32Ty());
    };
    Value* low = at_level(start.level, [&] { return bounded(builder.CreateNeg(start.value)); });
    Value* high =
        at_level(start.level, [&] { return bounded(builder.CreateSub(size, start.value)); });
    const bool is_uniform = lane_numbers.is_uniform;
    Value* lows = is_uniform ? low : as_vector({low, true, start.level});
    Value* highs = is_uniform ? high : as_vector({high, true, start.level});
    Value* inside = at_level(start.level, [&] {
      return builder.CreateAnd(builder.CreateICmpSGE(lane_numbers.value, lows),
                               builder.CreateICmpSLT(lane_numbers.value, highs));
    });
    mask = both(mask, {inside, is_uniform, start.level});
  }
  return mask;
}

Value* LaneEvaluator::element_pointer(const Address& address, const ir::Type& element) {
  llvm::IRBuilder<>& builder = kernel_.builder();
  llvm::Type* type = memory_type(kernel_.context(), element);
  Value* pointer = address.base;
  int level = address.base_level;
  if (address.offset.base != nullptr) {
    level = std::max(level, address.offset.level);
    pointer =
        at_level(level, [&] { return builder.CreateGEP(type, pointer, address.offset.base); });
  }
  if (address.offset.step != 0) {
    Affine steps;
    steps.step = address.offset.step;
    const Lanes distance = uniform_part(steps);
    level = inner_level();
    pointer = builder.CreateGEP(type, pointer, distance.value);
  }
  // Last, so that the vectors of a turn share the rest; it becomes part of the instruction.
  if (address.offset.constant != 0)
    pointer = at_level(level, [&] {
      return builder.CreateGEP(type, pointer,
                               builder.getInt64(static_cast<uint64_t>(address.offset.constant)));
    });
  return pointer;
}

Value* LaneEvaluator::pointers_of(const Address& address, const ir::Type& element) {
  if (address.base == nullptr) return as_vector(address.pointers);
  llvm::IRBuilder<>& builder = kernel_.builder();
  if (kernel_.function.options().debug) {
    Value* far = as_vector(lanes_of(address.offset, builder.getInt64Ty()));
    return builder.CreateGEP(memory_type(kernel_.context(), element),
                             as_vector({address.base, true, address.base_level}),
                             checkable_offset(kernel_, far));
  }
  Value* first = element_pointer(address, element);
  if (lanes_ == 1) return first;
  llvm::SmallVector<llvm::Constant*, 16> offsets;
  for (int lane = 0; lane < lanes_; ++lane)
    offsets.push_back(builder.getInt64(
        static_cast<uint64_t>(address.offset.pattern_at(static_cast<size_t>(lane)))));
  return builder.CreateGEP(memory_type(kernel_.context(), element), first,
                           llvm::ConstantVector::get(offsets));
}

// --- loads
// ------------------------------------------------------------------------------------------

// Masked-off lanes access spare memory instead.
Value* LaneEvaluator::guarded(Value* pointers, const Lanes& mask) {
  if (mask.value == nullptr) return pointers;
  llvm::IRBuilder<>& builder = kernel_.builder();
  if (!pointers->getType()->isVectorTy()) {
    Value* any = mask.is_uniform ? mask.value : builder.CreateOrReduce(mask.value);
    return builder.CreateSelect(any, pointers, kernel_.spare);
  }
  Value* spare = builder.CreateVectorSplat(static_cast<unsigned>(lanes_), kernel_.spare);
  return builder.CreateSelect(as_vector(mask), pointers, spare);
}

Lanes LaneEvaluator::check_bounds(const ir::Operation* access, const Address& address, Lanes mask,
                                  int view) {
  if (!kernel_.function.options().debug) return mask;
  // In front of a loop, where no turn is known, nothing is accessed. The level says that each turn
  // has a check of its own.
  if (llvm::isa_and_nonnull<llvm::PoisonValue>(counter_))
    return {mask.value, mask.is_uniform, inner_level()};
  const ir::Type element = ir::Type::number(access->operand(0)->type().dtype());
  Value* given = mask.value != nullptr ? as_vector(mask) : nullptr;
  Value* checked =
      emit_bounds_check(kernel_, access, pointers_of(address, element), given, position_of(view));
  if (checked == given) return mask;
  return {checked, lanes_ == 1, inner_level()};
}

Lanes LaneEvaluator::load(const Address& address, const ir::Type& element, Lanes mask) {
  mask = both(mask, {});
  Lanes loaded = load_bits(address, element, mask);
  if (element.is_pointer()) return loaded;
  loaded.value = at_level(
      loaded.level, [&] { return from_memory(kernel_.emission, loaded.value, element.dtype()); });
  return loaded;
}

Lanes LaneEvaluator::load_bits(const Address& address, const ir::Type& element, const Lanes& mask) {
  if (address.base != nullptr && address.offset.is_uniform())
    return load_uniform(address, element, mask);
  if (address.base == nullptr && address.pointers.is_uniform)
    return load_uniform({.base = address.pointers.value, .base_level = address.pointers.level},
                        element, mask);
  if (address.base == nullptr || !address.offset.is_contiguous())
    return load_gathered(address, element, mask);
  llvm::IRBuilder<>& builder = kernel_.builder();
  auto* type = llvm::FixedVectorType::get(memory_type(kernel_.context(), element),
                                          static_cast<unsigned>(lanes_));
  Value* pointer = element_pointer(address, element);
  const bool moves = address.offset.step != 0;
  int level = moves ? inner_level() : std::max(address.base_level, address.offset.level);
  level = std::max(level, mask.level);
  Value* all = mask.value ? as_vector(mask) : nullptr;
  Value* value = at_level(level, [&]() -> Value* {
    if (all == nullptr) return builder.CreateAlignedLoad(type, pointer, alignment_of(element));
    return builder.CreateMaskedLoad(type, pointer, alignment_of(element), all,
                                    llvm::Constant::getNullValue(type));
  });
  return {value, false, level};
}

Lanes LaneEvaluator::load_uniform(const Address& address, const ir::Type& element,
                                  const Lanes& mask) {
  llvm::IRBuilder<>& builder = kernel_.builder();
  Value* pointer = element_pointer(address, element);
  int level =
      address.offset.step != 0 ? inner_level() : std::max(address.base_level, address.offset.level);
  level = std::max(level, mask.level);
  Value* value = at_level(level, [&]() -> Value* {
    return builder.CreateAlignedLoad(memory_type(kernel_.context(), element),
                                     guarded(pointer, mask), alignment_of(element));
  });
  if (mask.value == nullptr) return {value, true, level};
  const bool is_uniform = mask.is_uniform;
  Value* all = is_uniform ? value : as_vector({value, true, level});
  Value* chosen = at_level(level, [&] {
    return builder.CreateSelect(mask.value, all, llvm::Constant::getNullValue(all->getType()));
  });
  return {chosen, is_uniform, level};
}

Lanes LaneEvaluator::load_gathered(const Address& address, const ir::Type& element,
                                   const Lanes& mask) {
  llvm::IRBuilder<>& builder = kernel_.builder();
  auto* type = llvm::FixedVectorType::get(memory_type(kernel_.context(), element),
                                          static_cast<unsigned>(lanes_));
  Value* pointers = guarded(pointers_of(address, element), mask);
  Value* value = builder.CreateMaskedGather(type, pointers, alignment_of(element));
  if (mask.value != nullptr)
    value = builder.CreateSelect(as_vector(mask), value, llvm::Constant::getNullValue(type));
  return {value, false, inner_level()};
}

// --- stores
// -----------------------------------------------------------------------------------------

llvm::Align LaneEvaluator::streaming_alignment(const ir::Type& element) const {
  return llvm::Align(static_cast<uint64_t>(std::min<int64_t>(16, lanes_ * element_bytes(element))));
}

void LaneEvaluator::store(const Address& address, const ir::Type& element, Lanes value, Lanes mask,
                          StoreKind kind) {
  mask = both(mask, {});
  llvm::IRBuilder<>& builder = kernel_.builder();
  if (!element.is_pointer())
    value.value = at_level(
        value.level, [&] { return to_memory(kernel_.emission, value.value, element.dtype()); });
  if (lanes_ == 1) {
    Value* pointer = address.base ? element_pointer(address, element) : address.pointers.value;
    builder.CreateAlignedStore(value.value, guarded(pointer, mask), alignment_of(element));
    return;
  }
  Value* vector = as_vector(value);
  if (address.base == nullptr || !address.offset.is_contiguous()) {
    Value* pointers = guarded(pointers_of(address, element), mask);
    builder.CreateMaskedScatter(vector, pointers, alignment_of(element));
    return;
  }
  Value* pointer = element_pointer(address, element);
  if (mask.value != nullptr) {
    builder.CreateMaskedStore(vector, pointer, alignment_of(element), as_vector(mask));
    return;
  }
  if (kind == StoreKind::kCached) {
    builder.CreateAlignedStore(vector, pointer, alignment_of(element));
    return;
  }
  llvm::StoreInst* streamed =
      builder.CreateAlignedStore(vector, pointer, streaming_alignment(element));
  streamed->setMetadata(
      llvm::LLVMContext::MD_nontemporal,
      llvm::MDNode::get(kernel_.context(), llvm::ConstantAsMetadata::get(builder.getInt32(1))));
}

}  // namespace enceladus::cpu
