// Expressions: from a node to a value. Statements are in statements.h, calls in calls.h.
#pragma once

#include "frontend/context.h"

namespace enceladus::frontend {

Value evaluate(Context& context, const Node& node);
// A condition of `if`, `while` and friends: a constant bool or an int1 scalar.
Value evaluate_condition(Context& context, const Node& node);

// A variable of the function, or a name from outside it (recorded as a dependency).
Value read_name(Context& context, const Node& node);
// The error for a variable that has no value here, at `place`.
[[noreturn]] void fail_unusable(Context& context, const Value& value, const Location& place);
Value read_attribute(Context& context, const Node& node);
Value attribute_of(Context& context, const Value& base, nb::handle name);
Value read_subscript(Context& context, const Node& node);
Value comprehension(Context& context, const Node& node);
Value formatted_string(Context& context, const Node& node);

// `a and b`, `a or b`, chained comparisons and `x if c else y` (short_circuit.cpp): the part that
// may not be needed is evaluated under the condition unless it is pure.
Value boolean_operation(Context& context, const Node& node);
Value comparison(Context& context, const Node& node);
Value conditional(Context& context, const Node& node);

// Binds a target of an assignment (a name, or nested tuples of names) to a value.
void assign(Context& context, const Node& target, const Value& value);

}  // namespace enceladus::frontend
