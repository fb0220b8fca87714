// Calls: of `tl` functions, of `@jit` functions (inlined), of Python's builtins on scalars, and of
// plain Python functions on compile-time values.
#pragma once

#include "frontend/context.h"
#include "frontend/functions.h"

namespace enceladus::frontend {

Value call(Context& context, const Node& node);

// The arguments as written, starred tuples taken apart.
CallArguments evaluate_arguments(Context& context, const Node& node);

// Calls a compile-time object from the compiler itself (combine functions).
Value call_object(Context& context, const Value& callee, const CallArguments& arguments,
                  const Node& node);

// Inlines a `@jit` function or a helper of the language at `node`.
Value inline_function(Context& context, nb::handle function, const CallArguments& arguments,
                      const Node& node);

// Python's `min`, `max`, `abs`, `len`, `print`, `isinstance`, `int`, `float`, `bool`, `range`;
// nothing where the callee is none of them.
std::optional<Value> call_python_builtin(Context& context, nb::handle callee,
                                         const CallArguments& arguments);

}  // namespace enceladus::frontend
