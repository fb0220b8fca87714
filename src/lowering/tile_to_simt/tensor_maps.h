// Descriptions of arrays for the copy engine (TMA): what of a descriptor the host can work out
// before a launch, and what is left to the kernel, which are the coordinates of its blocks.
//
//   base = p + pid * S * D, sizes [S, D], strides [D, 1]
//     =>  array of (D, S, many) elements at p with strides (D, S * D); block at (x, y, pid)
//
// A part of the base address that only the kernel knows becomes an axis of its own: its factor that
// is known in the kernel is the coordinate, the rest of the product the stride. So a block stays
// inside the descriptor's own bounds, whatever the arrays beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/affine.h"
#include "analysis/facts.h"
#include "ir/ir.h"
#include "support/artifact.h"

namespace enceladus::simt {

struct TensorMapPlan {
  int parameter = -1;  // the pointer
  LaunchExpression address;
  std::vector<LaunchExpression> sizes;    // innermost first, elements
  std::vector<LaunchExpression> strides;  // bytes, of all axes but the innermost
  // Scalars of the tile IR, innermost first: the access's offsets, then the factors of the base.
  std::vector<const ir::Value*> coordinates;
};

struct TensorMapMatch {
  std::optional<TensorMapPlan> plan;
  std::string reason;  // where there is none: why, as a part of a sentence
};

// Of a descriptor load or store of two axes. `forms` has the exact meaning.
TensorMapMatch match_tensor_map(const ir::Operation& access, analysis::AffineForms& forms,
                                const analysis::Facts& facts);

// An expression as the numbers of a `tensor_map`'s attributes: the count of its steps, then kind
// and value of each; and back, moving `at` behind them.
void append_numbers(const LaunchExpression& expression, std::vector<int64_t>& numbers);
LaunchExpression read_expression(std::span<const int64_t> numbers, size_t& at);

}  // namespace enceladus::simt
