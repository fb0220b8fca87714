// Evaluates elementwise operations on element bits by the rules of api.md 2.1, exactly as every
// target does. What constant folding computes with, and what tests compare targets with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ir/ir.h"

namespace enceladus::ir {

struct ScalarOperation {
  Opcode opcode;
  DType operand;  // of the first operand
  DType result;
  Rounding rounding = Rounding::kNearestEven;
  bool propagate_nan = false;
};

// The description of an elementwise operation of numbers.
ScalarOperation scalar_operation(const Operation& op);

// The result's bits, or none where targets may differ in the last bit or in a NaN's bits:
// transcendental functions, `div` and `sqrt` of floats (within 2.5 ulp), results that are NaN,
// min/max of zeros of both signs, narrow `fma`.
std::optional<uint64_t> evaluate(const ScalarOperation& op, std::span<const uint64_t> operands);

}  // namespace enceladus::ir
