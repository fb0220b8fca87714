#include "codegen/cpu/tally_emitter.h"

#include <algorithm>
#include <cstddef>

#include "codegen/cpu/ir_loops.h"
#include "support/cpu_abi.h"

namespace enceladus::cpu {
namespace {

using llvm::Value;

// Launches that may add less do not count: what they could gain is about a call of the entry.
constexpr uint64_t kFewestAdditions = 8192;
constexpr uint64_t kAdditionsForElement = 16;
constexpr uint64_t kLineBytes = 64;
// No tally is large enough that more would make a difference; so products do not overflow.
constexpr uint64_t kMostAdditions = uint64_t{1} << 24;

// A program whose thread has found more than an eighth of its additions beyond the tally so far
// takes the atomics at once: branches between the two that nobody can foresee would cost more.
constexpr uint64_t kPartBeyond = 8;
// Two words behind a tally's spare element.
constexpr uint64_t kBeyondPlace = 16;    // additions that were not held
constexpr uint64_t kExpectedPlace = 24;  // additions of the programs so far

Value* place_in(KernelState& kernel, const Tally& tally, uint64_t offset) {
  return kernel.builder().CreateConstInBoundsGEP1_64(kernel.builder().getInt8Ty(),
                                                     kernel.tally_scratch,
                                                     static_cast<uint64_t>(tally.offset) + offset);
}
uint64_t spare_place(const Tally& tally) {
  return static_cast<uint64_t>(tally.elements * byte_size(tally.dtype));
}
uint64_t additions_of_program(const Tally& tally) {
  return static_cast<uint64_t>(std::min(tally.additions, static_cast<double>(kMostAdditions)));
}

class TallyEmitter {
 public:
  explicit TallyEmitter(KernelState& kernel) : kernel_(kernel), builder_(kernel.builder()) {}

  void emit(Value* first, Value* last) {
    find_extents();
    llvm::BasicBlock* ends = kernel_.new_block("tallies.add");
    llvm::BasicBlock* starts = kernel_.new_block("tallies.clear");
    builder_.CreateCondBr(builder_.CreateICmpEQ(first, last), ends, starts);
    builder_.SetInsertPoint(ends);
    for (size_t index = 0; index < tallies().size(); ++index) add(index);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(starts);
    clear_once();
  }

 private:
  std::span<const Tally> tallies() const { return kernel_.tallies.all(); }
  llvm::Type* number(const Tally& tally) {
    return memory_type(kernel_.context(), ir::Type::number(tally.dtype));
  }
  Value* memory(const Tally& tally) { return place_in(kernel_, tally, 0); }
  Value* header_field(uint64_t place) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), kernel_.header, place);
  }
  Value* least(Value* value, uint64_t limit) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, value, builder_.getInt64(limit));
  }

  // How many bytes of each tally the launch uses.
  void find_extents() {
    Value* programs = builder_.getInt64(1);
    for (Value* extent : kernel_.grid)
      programs = builder_.CreateMul(programs, builder_.CreateZExt(extent, builder_.getInt64Ty()));
    programs = least(programs, kMostAdditions);
    for (const Tally& tally : tallies()) {
      const auto bytes = static_cast<uint64_t>(byte_size(tally.dtype));
      Value* additions =
          builder_.CreateMul(programs, builder_.getInt64(additions_of_program(tally)));
      Value* few = builder_.CreateICmpULT(additions, builder_.getInt64(kFewestAdditions));
      Value* elements = builder_.CreateUDiv(additions, builder_.getInt64(kAdditionsForElement));
      elements = least(elements, static_cast<uint64_t>(tally.elements));
      Value* used = builder_.CreateMul(elements, builder_.getInt64(bytes));
      used = builder_.CreateAnd(used, builder_.getInt64(~(kLineBytes - 1)));
      kernel_.tally_extents.push_back(builder_.CreateSelect(few, builder_.getInt64(0), used));
    }
  }

  void clear_once() {
    llvm::Type* word = builder_.getInt64Ty();
    Value* place = header_field(offsetof(CpuScratchHeader, counted_in));
    Value* generation =
        builder_.CreateLoad(word, header_field(offsetof(CpuScratchHeader, generation)));
    Value* used = builder_.getInt64(0);
    for (Value* extent : kernel_.tally_extents) used = builder_.CreateOr(used, extent);
    Value* is_first = builder_.CreateICmpNE(builder_.CreateLoad(word, place), generation);
    emit_if(builder_, builder_.CreateAnd(is_first, builder_.CreateIsNotNull(used)), [&] {
      for (size_t index = 0; index < tallies().size(); ++index) {
        const Tally& tally = tallies()[index];
        builder_.CreateMemSet(memory(tally), builder_.getInt8(0), kernel_.tally_extents[index],
                              llvm::Align(kLineBytes));
        for (const uint64_t count : {kBeyondPlace, kExpectedPlace})
          builder_.CreateStore(builder_.getInt64(0),
                               place_in(kernel_, tally, spare_place(tally) + count));
      }
      builder_.CreateStore(generation, place);
    });
  }

  // Where the thread's share of the tally begins: two that add at once would meet at every line if
  // both began at the first.
  Value* first_line(Value* extent) {
    auto start = [&](uint64_t axis) {
      Value* field = header_field(offsetof(CpuScratchHeader, start) + 4 * axis);
      return builder_.CreateZExt(builder_.CreateLoad(builder_.getInt32Ty(), field),
                                 builder_.getInt64Ty());
    };
    Value* before = builder_.CreateMul(extent, start(0));
    return builder_.CreateAnd(builder_.CreateUDiv(before, start(1)),
                              builder_.getInt64(~(kLineBytes - 1)));
  }

  // Looks at a line at a time; most are empty where values lie in few places.
  void add(size_t index) {
    const Tally& tally = tallies()[index];
    const auto lanes = static_cast<unsigned>(kLineBytes / uint64_t(byte_size(tally.dtype)));
    auto* line_type = llvm::FixedVectorType::get(number(tally), lanes);
    Value* counts = memory(tally);
    Value* extent = kernel_.tally_extents[index];
    Value* begin = first_line(extent);
    const LoopBounds bounds{.begin = begin,
                            .end = builder_.CreateAdd(begin, extent),
                            .step = static_cast<int64_t>(kLineBytes)};
    emit_loop(builder_, bounds, [&](Value* turn) {
      Value* wrapped = builder_.CreateSub(turn, extent);
      Value* offset = builder_.CreateSelect(builder_.CreateICmpULT(turn, extent), turn, wrapped);
      Value* place = builder_.CreateGEP(builder_.getInt8Ty(), counts, offset);
      Value* line = builder_.CreateAlignedLoad(line_type, place, llvm::Align(kLineBytes));
      emit_if(builder_, builder_.CreateIsNotNull(builder_.CreateOrReduce(line)),
              [&] { add_line(tally, place, offset, lanes); });
    });
  }

  void add_line(const Tally& tally, Value* line, Value* offset, unsigned lanes) {
    const ir::Value* parameter = kernel_.function.body().argument(tally.parameter);
    Value* target = builder_.CreateGEP(builder_.getInt8Ty(), kernel_.scalar(parameter), offset);
    emit_loop(builder_, {builder_.getInt64(0), builder_.getInt64(lanes)}, [&](Value* lane) {
      llvm::Type* type = number(tally);
      Value* count = builder_.CreateLoad(type, builder_.CreateGEP(type, line, lane));
      emit_if(builder_, builder_.CreateIsNotNull(count), [&] {
        builder_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, builder_.CreateGEP(type, target, lane),
                                 count, llvm::Align(uint64_t(byte_size(tally.dtype))),
                                 llvm::AtomicOrdering::Monotonic);
      });
    });
  }

  KernelState& kernel_;
  llvm::IRBuilder<>& builder_;
};

// One addition of a vector (or scalar) to a tally.
class Addition {
 public:
  Addition(KernelState& kernel, const Tally& tally, Value* extent)
      : kernel_(kernel), builder_(kernel.builder()), tally_(tally), extent_(extent) {}

  // Without a branch for each lane, as none is foreseen well: what is not counted goes to the spare
  // element.
  void emit(Value* pointers, Value* values, Value* mask,
            llvm::function_ref<void(Value*)> add_others) {
    Value* offsets = offsets_of(pointers);
    Value* held =
        builder_.CreateICmpULT(offsets, in_lanes_of(builder_, extent_, offsets->getType()));
    Value* others = builder_.CreateNot(held);
    if (mask != nullptr) {
      held = builder_.CreateAnd(mask, held);
      others = builder_.CreateAnd(mask, others);
    }
    Value* spare = integer_like(offsets, static_cast<int64_t>(spare_place(tally_)));
    emit_if(builder_, any_lane(builder_, held),
            [&] { add(builder_.CreateSelect(held, offsets, spare), values); });
    emit_if(builder_, any_lane(builder_, others), [&] {
      note_beyond(others);
      add_others(others);
    });
  }

 private:
  void note_beyond(Value* mask) {
    Value* number = builder_.getInt64(1);
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType())) {
      Value* bits = builder_.CreateBitCast(mask, builder_.getIntNTy(vector->getNumElements()));
      bits = builder_.CreateZExt(bits, builder_.getInt64Ty());
      number = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
    }
    Value* place = place_in(kernel_, tally_, spare_place(tally_) + kBeyondPlace);
    Value* before = builder_.CreateLoad(builder_.getInt64Ty(), place);
    builder_.CreateStore(builder_.CreateAdd(before, number), place);
  }

  // In bytes from the parameter. What lies below it is far above it without a sign.
  Value* offsets_of(Value* pointers) {
    llvm::Type* word = builder_.getInt64Ty();
    Value* base = kernel_.scalar(kernel_.function.body().argument(tally_.parameter));
    Value* addresses = builder_.CreatePtrToInt(pointers, with_lanes_of(word, pointers->getType()));
    Value* first = builder_.CreatePtrToInt(base, word);
    return builder_.CreateSub(addresses, in_lanes_of(builder_, first, addresses->getType()));
  }

  void add(Value* places, Value* values) {
    Value* counts = place_in(kernel_, tally_, 0);
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(places->getType());
    const unsigned lanes = vector ? vector->getNumElements() : 1;
    auto lane_of = [&](Value* value, unsigned lane) {
      return vector ? builder_.CreateExtractElement(value, lane) : value;
    };
    for (unsigned lane = 0; lane < lanes; ++lane) {
      Value* place = builder_.CreateGEP(builder_.getInt8Ty(), counts, lane_of(places, lane));
      Value* added = lane_of(values, lane);
      Value* count = builder_.CreateLoad(added->getType(), place);
      builder_.CreateStore(builder_.CreateAdd(count, added), place);
    }
  }

  KernelState& kernel_;
  llvm::IRBuilder<>& builder_;
  const Tally& tally_;
  Value* extent_;
};

}  // namespace

void emit_tallies(KernelState& kernel, Value* first, Value* last) {
  if (!kernel.tallies.all().empty()) TallyEmitter(kernel).emit(first, last);
}

void open_tallies(KernelState& kernel) {
  llvm::IRBuilder<>& builder = kernel.builder();
  llvm::Type* word = builder.getInt64Ty();
  kernel.open_extents.clear();
  for (const Tally& tally : kernel.tallies.all()) {
    const uint64_t spare = spare_place(tally);
    Value* beyond = builder.CreateLoad(word, place_in(kernel, tally, spare + kBeyondPlace));
    Value* expected_place = place_in(kernel, tally, spare + kExpectedPlace);
    Value* expected = builder.CreateLoad(word, expected_place);
    Value* parts = builder.CreateMul(beyond, builder.getInt64(kPartBeyond));
    Value* too_many = builder.CreateICmpUGT(parts, expected);
    Value* additions = builder.getInt64(additions_of_program(tally));
    builder.CreateStore(builder.CreateAdd(expected, additions), expected_place);
    Value* extent = kernel.tally_extents[kernel.open_extents.size()];
    kernel.open_extents.push_back(builder.CreateSelect(too_many, builder.getInt64(0), extent));
  }
}

void emit_counting(KernelState& kernel, int index, Value* pointers, Value* values, Value* mask,
                   llvm::function_ref<void(Value*)> add_others) {
  const auto place = static_cast<size_t>(index);
  Addition(kernel, kernel.tallies.all()[place], kernel.open_extents[place])
      .emit(pointers, values, mask, add_others);
}

}  // namespace enceladus::cpu
