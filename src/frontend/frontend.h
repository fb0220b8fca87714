// The frontend: from a `@jit` function and the kinds of its arguments to tile IR. Needs the GIL and
// runs the user's own Python objects for compile-time expressions; never needs NumPy. Not here:
// anything done to the IR afterwards (pipeline/compile.h).
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace enceladus::frontend {

namespace nb = nanobind;

struct ArgumentSpec {
  enum class Kind : uint8_t { kConstexpr, kScalar, kPointer };
  std::string name;
  Kind kind = Kind::kScalar;
  nb::object value;  // constexpr
  DType dtype = DType::kInt32;
  bool divisible_by_16 = false;  // integers
  bool equal_to_1 = false;       // integers
  bool aligned_16 = false;       // pointers
};

// A Python object that the result depends on: when `owner`'s `name` is another object, compile
// again. The owner is a dict (globals), a cell, or anything with attributes.
struct Dependency {
  nb::object owner;
  std::string name;
  nb::object value;
};

struct FrontendResult {
  std::unique_ptr<ir::Function> function;
  std::vector<Dependency> dependencies;
};

// Throws CompilationFailure for what is wrong with the user's program, nb::python_error for
// KeyboardInterrupt and the like.
FrontendResult build_function(nb::handle jit_function, std::span<const ArgumentSpec> arguments,
                              const ir::FunctionOptions& options);

}  // namespace enceladus::frontend
