// Computes tile values for the lanes of a loop nest: given a value and the index of its elements
// that the lanes stand for, emits what gives them, back to scalars, arrays and tiles in scratch.
//
// Levels: 0 is before the nest, k inside its k-th loop, the last one the innermost body. What does
// not depend on the inner loops is emitted at its own level, in front of them; nothing pure is
// emitted twice at one place. What is equal in all lanes stays a scalar.
//
// Views: an index is interned as a number, its view; a broadcast, transposition or reshape maps
// the view of its result to that of its operand.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

#include <deque>

#include "codegen/cpu/affine.h"
#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

struct Lanes {
  llvm::Value* value = nullptr;  // a vector of all lanes, or one scalar where `is_uniform`
  bool is_uniform = false;
  int level = 0;
};

// Where the lanes' elements lie: at base + offset elements, or at a pointer a lane.
struct Address {
  llvm::Value* base = nullptr;  // null: `pointers` holds them
  int base_level = 0;
  Affine offset = {};
  Lanes pointers = {};
};

// Whether integer arithmetic is followed as unlimited precision (offsets, which never wrap) or as
// its type computes it.
enum class Precision : uint8_t { kUnlimited, kTyped };

enum class StoreKind : uint8_t { kCached, kStreaming };

class LaneEvaluator {
 public:
  LaneEvaluator(KernelState& kernel, int lanes);

  int lanes() const { return lanes_; }
  KernelState& kernel() { return kernel_; }

  // --- levels -----------------------------------------------------------------------------------
  // Opens a level at the builder's position, behind which the builder then stands; what belongs to
  // the level can still be emitted before that position.
  void open_level();
  void close_level() { marks_.pop_back(); }
  int inner_level() const { return static_cast<int>(marks_.size()); }
  // Starts a body at the innermost level: what was computed for another one is forgotten.
  // `counter` counts the innermost loop: an i64, the turn times `scale` (a power of two); turns are
  // below `turns` (another).
  void begin_body(llvm::Value* counter, int64_t turns, int64_t scale = 1);

  // --- views ------------------------------------------------------------------------------------
  int intern(const Index& index);
  const Index& index_of(int view) const { return views_[static_cast<size_t>(view)]; }
  // The view's index, an i32 (vector) an axis.
  llvm::SmallVector<llvm::Value*, 8> position_of(int view);
  // The view of operand(0) of a shape operation (splat has none) whose result is seen at `view`.
  int operand_view(const ir::Operation* shape_op, int view);

  // --- values -----------------------------------------------------------------------------------
  Lanes evaluate(const ir::Value* value, int view);
  // Computes a tile that lies in scratch instead of loading it, for the group that writes it.
  void compute_here(const ir::Value* value) { computed_here_.insert(value); }
  // Whether the tile is read from scratch.
  bool is_stored(const ir::Value* value) const {
    return kernel_.plan.buffer(value) >= 0 && !computed_here_.contains(value);
  }
  // Takes the lanes as the value from now on, in this body.
  void set(const ir::Value* value, int view, Lanes lanes) { memo_[key(value, view)] = lanes; }
  // Takes a condition (a Value) as true, or all lanes of a block access (an Operation) as inside
  // its array, until assumptions are forgotten.
  void assume(const void* condition, int view) { assumed_.insert({condition, view}); }
  void forget_assumptions() { assumed_.clear(); }

  std::optional<Affine> affine(const ir::Value* value, int view, Precision precision);
  Affine sum(const Affine& a, const Affine& b) { return add(a, b); }
  llvm::Value* as_vector(const Lanes& lanes);
  // The i64 scalar of an affine's part that all lanes share.
  Lanes uniform_part(const Affine& affine);
  Lanes lanes_of(const Affine& affine, llvm::Type* integer);
  // Emits where values of this level belong.
  template <typename Emit>
  llvm::Value* at_level(int level, const Emit& emit) {
    if (level >= inner_level()) return emit();
    llvm::IRBuilderBase::InsertPointGuard guard(kernel_.builder());
    kernel_.builder().SetInsertPoint(marks_[static_cast<size_t>(level)]);
    return emit();
  }

  // --- memory (lane_memory.cpp) -----------------------------------------------------------------
  Address address(const ir::Value* pointer, int view);
  // Of a block seen at `view`: where it lies, and which lanes are inside the array's sizes (value
  // null: all are known to be).
  Address descriptor_address(const ir::Operation* access, int view);
  Lanes descriptor_mask(const ir::Operation* access, int view);
  Address buffer_address(int buffer, int view);
  // In debug mode, reports lanes of an array access (an operation) that lie outside the array that
  // its pointer comes from, and takes them out of the mask.
  Lanes check_bounds(const ir::Operation* access, const Address& address, Lanes mask, int view);
  // `mask.value` null: all lanes. Masked-off lanes are not touched and give zero bits.
  Lanes load(const Address& address, const ir::Type& element, Lanes mask);
  // A streaming store must have `streaming_alignment`; where it is masked it is a cached one.
  void store(const Address& address, const ir::Type& element, Lanes value, Lanes mask,
             StoreKind kind = StoreKind::kCached);
  // NumPy's large arrays begin 16 bytes behind a page: a vector is therefore streamed in pieces of
  // 16 bytes, which the processor gathers into lines (as fast as whole vectors).
  llvm::Align streaming_alignment(const ir::Type& element) const;
  // Where the element lies whose pattern is 0.
  llvm::Value* element_pointer(const Address& address, const ir::Type& element);
  // One pointer a lane.
  llvm::Value* pointers_of(const Address& address, const ir::Type& element);
  Lanes both(Lanes a, Lanes b);  // of two masks, null for true

 private:
  using Key = std::pair<const void*, int>;
  static Key key(const ir::Value* value, int view) { return {value, view}; }

  Lanes compute(const ir::Value* value, int view);
  Lanes compute_elementwise(const ir::Operation* op, int view);
  Lanes compute_load(const ir::Operation* op, int view);
  Lanes compute_descriptor_load(const ir::Operation* op, int view);
  Affine reshaped(const Index& from, std::span<const int64_t> shape, int64_t divisor,
                  int64_t extent);
  void add_slice(Affine& sum, const Affine& part, int64_t stride, int64_t divisor, int64_t extent);

  // affine_evaluator.cpp
  std::optional<Affine> affine_product(const Affine& a, const Affine& b);
  std::optional<Affine> affine_cast(const ir::Operation* op, int view, Precision precision);
  std::optional<Affine> affine_leaf(const ir::Value* value, int view);
  Affine add(Affine a, const Affine& b, int sign = 1);
  Affine scaled(Affine affine, int64_t factor);
  Affine fold_step(Affine affine);  // the step becomes part of the base
  Lanes exact_offset(const ir::Value* offset, int view);

  Lanes load_bits(const Address& address, const ir::Type& element, const Lanes& mask);
  Lanes load_uniform(const Address& address, const ir::Type& element, const Lanes& mask);
  Lanes load_gathered(const Address& address, const ir::Type& element, const Lanes& mask);
  llvm::Value* guarded(llvm::Value* pointers, const Lanes& mask);

  KernelState& kernel_;
  int lanes_;
  std::vector<llvm::Instruction*> marks_;  // the end of each open level's own block
  llvm::Value* counter_ = nullptr;
  int64_t turns_ = 1;
  int64_t scale_ = 1;
  std::deque<Index> views_;
  llvm::DenseMap<Key, Lanes> memo_;
  llvm::DenseSet<Key> assumed_;
  llvm::DenseSet<const ir::Value*> computed_here_;
};

}  // namespace enceladus::cpu
