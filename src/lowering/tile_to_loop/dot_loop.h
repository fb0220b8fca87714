// Recognizes a loop over K that may be turned inside out: run as one product of two operands that
// lie in arrays, the whole of K inside each block of registers, instead of one product a turn.
//
//   acc = zeros                                   A: rows x K, read in place
//   for k in range(0, K, BK):              =>     B: K x columns, packed once
//     acc = dot(a.load(.., k), b.load(k, ..), acc)
//
// Why this is legal. The loop holds nothing but pure operations, the two loads and the dot, so
// nothing else can happen between the turns; there is no store in it, so the arrays are the same at
// every turn and may be read in another order, more than once or not at all. The loads are used by
// the dot alone (through transpositions and exact casts), the accumulator by the dot and the yield
// alone, and no other result of the loop is used, so no partial state is seen. Turn t reads the
// depths [t * step, (t + 1) * step) of each operand, which is proved from its address: it must
// advance by exactly `step` elements along the operand's depth axis a turn and by nothing else.
// Bounds (of a descriptor or of a mask) must move with it, so that they are one range of the whole
// depth. Sums of floats are made in another order than turn by turn, each within one accumulator
// and without rounding in between; the order inside a dot is not promised anyway.
//
// Takes the function after loop-invariant code motion: strides, offsets and bounds must be made of
// values from before the loop. Changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/affine.h"
#include "analysis/facts.h"
#include "analysis/mask.h"
#include "ir/ir.h"

namespace enceladus::loop {

// Indices that exist: those with index >= each `from` and index < each `below`. Counted from the
// operand's element (0, 0) at the first turn. What is outside counts as zero.
struct IndexBounds {
  std::vector<analysis::Sum> from;
  std::vector<analysis::Sum> below;
  bool operator==(const IndexBounds&) const = default;
};

struct DotOperand {
  ir::Operation* load = nullptr;
  DType dtype = DType::kFloat32;  // in memory
  ir::Value* pointer = nullptr;   // a scalar from before the loop
  analysis::Sum base;             // of element (0, 0) at the first turn, in elements
  analysis::Sum across_stride;    // elements; between rows of A, columns of B
  analysis::Sum depth_stride;
  IndexBounds across, depth;
};

struct DotLoop {
  ir::Operation* loop = nullptr;
  ir::Operation* dot = nullptr;
  int result = 0;  // of the loop: the accumulator
  bool starts_at_zero = false;
  int64_t rows = 0, columns = 0;
  int64_t depth_per_turn = 0;
  int64_t step = 1;  // of the loop's variable; the turns are ceil((upper - lower) / step)
  DotOperand a, b;
};

struct DotLoopMatch {
  std::optional<DotLoop> plan;
  std::string reason;  // where there is no plan, for kernel.explain: why not, as a sentence
};

// `loop` is a `for`. `forms` has the exact meaning.
DotLoopMatch match_dot_loop(ir::Operation* loop, analysis::AffineForms& forms,
                            const analysis::Facts& facts);

}  // namespace enceladus::loop
