// How two partial results of a reduction or scan become one: a plain operation, the better of two
// (value, index) pairs, or the user's own function. On register values: vectors or scalars.
#pragma once

#include "codegen/cpu/elementwise.h"
#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

using Parts = llvm::SmallVector<llvm::Value*, 4>;

class Combination {
 public:
  Combination(KernelState& kernel, const ir::Operation* op);

  // The parts of one element: a value, a value and its index, or the function's values.
  size_t part_count() const { return dtypes_.size(); }
  DType dtype(size_t part) const { return dtypes_[part]; }
  bool tracks_index() const;
  bool is_custom() const { return kind_ == ir::CombineKind::kCustom; }
  // Leaves every other value as it is; null for custom functions.
  llvm::Constant* identity(size_t part) const;
  Parts combine(const Parts& left, const Parts& right);
  // Rounds a finished result to its dtype (partial float16 sums are float32).
  llvm::Value* finish(llvm::Value* value, size_t part);

 private:
  Parts better_of(const Parts& left, const Parts& right);
  Parts call_function(const Parts& left, const Parts& right);

  KernelState& kernel_;
  const ir::Operation* op_;
  ir::CombineKind kind_;
  NanRule nan_rule_;
  llvm::SmallVector<DType, 4> dtypes_;
};

}  // namespace enceladus::cpu
