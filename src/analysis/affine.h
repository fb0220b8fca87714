// Affine forms of integer and pointer values: which tiles are
//
//   pointer + base + index_0 * strides[0] + index_1 * strides[1] + ...
//
// with a scalar base and scalar strides. Code generators make contiguous or strided accesses of
// what has such a form and gathers of the rest. Changes nothing.
//
// A form is the value, element by element: operations of fewer than 64 bits that Facts do not prove
// to keep within their type are not looked through. Two ways to look:
//   kExact     for addresses, behind transforms/widen_offsets.h: scalars are taken apart too,
//              `pid * 1024` is 1024 times the factor `pid`.
//   kWrapping  for comparisons and stored values at their own type: scalars stay whole, and a form
//              exists only where no element of a tile wraps.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "analysis/facts.h"
#include "analysis/sum.h"
#include "ir/ir.h"

namespace enceladus::analysis {

struct Affine {
  ir::Value* pointer = nullptr;  // scalar pointer that the offsets (in elements) start from; null
                                 // for integers
  Sum base;
  std::vector<Sum> strides;  // one an axis; 0 where the value does not depend on it, and where the
                             // extent is 1
  // Whether every element is the same.
  bool is_uniform() const;
  bool operator==(const Affine&) const = default;
};

// The interval of a sum from the ranges of its factors.
Range range_of(const Sum& sum, const Facts& facts);

class AffineForms {
 public:
  enum class Meaning { kExact, kWrapping };
  // Both live longer than this. Without facts they are found here.
  AffineForms(const ir::Function& function, Meaning meaning, const Facts* facts = nullptr);

  // The form of an integer or pointer, scalar or tile; null where it has none. Every scalar has
  // one. Valid until the function changes; computed once a value.
  const Affine* of(ir::Value* value);
  // The exact sum of a scalar integer: a constant, taken apart, or the value itself.
  Sum scalar(ir::Value* value);

 private:
  std::optional<Affine> compute(ir::Value* value);
  std::optional<Affine> of_operation(ir::Operation* op, ir::Value* value);
  std::optional<Affine> of_scalar(ir::Value* value);
  std::optional<Affine> of_sum(ir::Operation* op, int64_t sign);
  std::optional<Affine> of_product(const Affine* a, const Affine* b);
  std::optional<Affine> of_shift(ir::Operation* op);
  std::optional<Affine> of_cast(ir::Operation* op);
  std::optional<Affine> of_addptr(ir::Operation* op);
  std::optional<Affine> of_broadcast(ir::Operation* op);
  std::optional<Affine> of_reshape(ir::Operation* op);
  bool fits(const Affine& form, const ir::Type& type) const;

  bool may_take_apart(const ir::Operation& op) const;

  Meaning meaning_;
  std::optional<Facts> own_facts_;
  const Facts* facts_;
  enum class State : uint8_t { kUnknown, kNone, kSome };
  std::vector<State> states_;
  std::deque<Affine> forms_;  // growing moves none of them
};

}  // namespace enceladus::analysis
