// Scalars and addresses of a loop as functions of its turn: first + turn * advance, where both are
// sums of values from before the loop. Sees through the induction variable, carried integers and
// carried pointers that grow by the same amount every turn. Part of dot_loop.h's matching.
#pragma once

#include <optional>

#include "analysis/affine.h"
#include "ir/ir.h"

namespace enceladus::loop {

struct TurnSum {
  analysis::Sum first;    // at turn 0
  analysis::Sum advance;  // each turn
};

// pointer + offset + index_0 * strides[0] + ..., in elements.
struct TurnAddress {
  ir::Value* pointer = nullptr;  // scalar, from before the loop
  TurnSum offset;
  std::vector<analysis::Sum> strides;
};

class TurnForms {
 public:
  TurnForms(ir::Operation* loop, analysis::AffineForms& forms, bool arrays_are_small)
      : loop_(loop), forms_(forms), arrays_are_small_(arrays_are_small) {}

  // Whether the value is defined before the loop.
  bool is_invariant(const ir::Value* value) const;
  bool is_invariant(const analysis::Sum& sum) const;
  // None where the value or sum is no such function.
  std::optional<TurnSum> sum(const analysis::Sum& sum) const;
  std::optional<TurnSum> scalar(ir::Value* value) const { return sum(forms_.scalar(value)); }
  // Of a mask's limit. Where arrays are small, narrow arithmetic is followed as if it did not wrap.
  std::optional<TurnSum> limit(const analysis::Sum& sum) const;
  // Of a pointer, scalar or tile.
  std::optional<TurnAddress> address(ir::Value* pointer) const;

 private:
  enum class Wrapping { kRespected, kIgnored };

  std::optional<TurnSum> sum(const analysis::Sum& sum, Wrapping wrapping) const;
  std::optional<TurnSum> factor(ir::Value* value, Wrapping wrapping) const;
  std::optional<TurnSum> as_if_unlimited(const ir::Operation* op) const;
  std::optional<analysis::Sum> term_without(const analysis::Term& term, int factor) const;
  std::optional<TurnAddress> carried_address(ir::Value* argument) const;
  std::optional<TurnAddress> moved(TurnAddress address, ir::Value* offset) const;
  int carried_index(const ir::Value* value) const;  // -1: not carried by the loop
  ir::Value* initial(int carried) const;
  ir::Value* yielded(int carried) const;

  ir::Operation* loop_;
  analysis::AffineForms& forms_;
  bool arrays_are_small_;
};

}  // namespace enceladus::loop
