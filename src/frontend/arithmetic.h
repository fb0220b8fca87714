// The operators of the language on values: compile-time operands by Python itself, run-time ones by
// promotion, broadcasting and one operation. Errors at the context's current place.
#pragma once

#include "frontend/context.h"

namespace enceladus::frontend {

Value binary(Context& context, Operator op, const Value& a, const Value& b);
Value unary(Context& context, Operator op, const Value& a);
Value compare(Context& context, Operator op, const Value& a, const Value& b);

// `a ** exponent` by square and multiply from the lowest bit, each product rounded.
Value power(Context& context, const Value& a, const Value& exponent);
// pointer + offset (negated: pointer - offset).
Value offset_pointer(Context& context, const Value& pointer, const Value& offset, bool negated);

// x != 0 for what is no int1; a tile keeps its shape.
ir::Value* as_bool(Context& context, ir::Value* value);
// The value of `if`, `while`, `and`, `or`, `not`: a constant bool, or an int1 scalar. A tile is an
// error.
Value condition(Context& context, const Value& value);
// The constant's truth by Python's rules.
bool truth(Context& context, const Value& constant);

// A single-operation result.
Value emit(Context& context, ir::Opcode opcode, std::initializer_list<ir::Value*> operands);

}  // namespace enceladus::frontend
