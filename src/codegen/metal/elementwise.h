// Elementwise operations as MSL expressions by the numerical rules of api.md 2.1. Operands and
// results are expressions that stand anywhere without parentheses around them. float16 and bfloat16
// compute in float and round each result. Not: statements or loops over registers.
#pragma once

#include <string>
#include <vector>

#include "analysis/facts.h"
#include "codegen/metal/prelude.h"
#include "ir/ir.h"

namespace enceladus::metal {

struct ElementwiseContext {
  Prelude& prelude;
  const analysis::Facts& facts;
  ir::MathMode math_mode;
};

// Of Elementwise operations except addptr and hint. The result may need parentheses.
std::string elementwise(const ir::Operation& op, const std::vector<std::string>& operands,
                        const ElementwiseContext& context);

// A value converted from one dtype to another.
std::string conversion(DType from, DType to, ir::Rounding rounding, const std::string& value,
                       const ElementwiseContext& context);

}  // namespace enceladus::metal
