// Elementwise operations as C-family expressions by the numerical rules of api.md 2.1. Operands and
// results are expressions that stand anywhere without parentheses around them. Integers are the
// same in every dialect; floats are the dialect's (dialect.h). Not: statements or loops over
// registers.
#pragma once

#include <string>
#include <vector>

#include "analysis/facts.h"
#include "codegen/common/dialect.h"
#include "ir/ir.h"

namespace enceladus::codegen {

struct ElementwiseContext {
  Dialect& dialect;
  const analysis::Facts& facts;
  ir::MathMode math_mode;
};

// Of Elementwise operations except addptr and hint. The result may need parentheses.
std::string elementwise(const ir::Operation& op, const std::vector<std::string>& operands,
                        const ElementwiseContext& context);

// A value converted from one dtype to another.
std::string conversion(DType from, DType to, ir::Rounding rounding, const std::string& value,
                       Dialect& dialect);

}  // namespace enceladus::codegen
