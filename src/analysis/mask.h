// Masks as intervals of indices: which i1 tiles are a conjunction of
//
//   index along an axis < limit     or     index along an axis >= limit
//
// with a scalar limit, conditions that are the same for all elements, and a rest. Code generators
// split loops into a full part and a tail by it. Changes nothing.
#pragma once

#include <vector>

#include "analysis/affine.h"
#include "analysis/facts.h"

namespace enceladus::analysis {

// Elements with `index * stride < limit` (kBelow) or `index * stride >= limit` (kFrom); the stride
// is a positive constant, nearly always 1. The limit is computed in 64 bits without overflow
// where its factors fit in 32; it may lie anywhere, also below 0 or above the extent.
struct MaskBound {
  enum class Side { kBelow, kFrom };
  int axis = 0;
  Side side = Side::kBelow;
  int64_t stride = 1;
  Sum limit;
  bool operator==(const MaskBound&) const = default;
};

// All of it must hold.
struct MaskForm {
  std::vector<MaskBound> bounds;
  std::vector<ir::Value*> conditions;  // scalar i1 values
  std::vector<ir::Value*> rest;        // i1 tiles of the mask's own shape without such a form
  bool always = true;                  // false: no element is ever on
};

// The form of an i1 tile or scalar. `forms` has the wrapping meaning.
MaskForm mask_form(ir::Value* mask, AffineForms& forms);

}  // namespace enceladus::analysis
