// From what stands in the parentheses of a launch to one value for each parameter, by Python's own
// rules for calls. Values are borrowed; nothing is converted here.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <span>

#include "bindings/launch_options.h"
#include "bindings/launch_state.h"

namespace enceladus {

// Arguments as vectorcall passes them: keyword values behind the positional ones.
struct CallArguments {
  PyObject* const* values = nullptr;
  size_t positional = 0;
  PyObject* keywords = nullptr;  // a tuple of names, or null
};

struct BoundCall {
  explicit BoundCall(size_t count) : count(count) {
    for (size_t i = 0; i < count; ++i) values[i] = nullptr;
  }
  size_t count;
  PyObject* values[kMostParameters];
  LaunchOptions options;
};

// Raises TypeError like Python's own: missing, too many, given twice, unknown (naming the closest
// known keyword).
void bind_call(const KernelState& kernel, const CallArguments& call, BoundCall& bound);

// Every parameter by name: what a grid function is given.
nanobind::dict bound_dict(const KernelState& kernel, const BoundCall& bound);

}  // namespace enceladus
