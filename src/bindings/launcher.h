// The launch path: `kernel[grid](*args, **options)` without a Python frame.
//
// `KernelBase` is what JITFunction derives from; subscripting it gives a `Launcher` from a free
// list, and calling that binds the arguments (launch_binding), classifies them into the bytes of
// a specialization key (launch_arguments, launch_constants, launch_key), finds the compiled
// variant (launch_state), checks that what it was compiled from is unchanged
// (launch_dependencies), packs and enqueues. Everything rare is a method of JITFunction:
// `_specialize` (caches, compiler) and `_interpret`.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/launch_binding.h"
#include "bindings/launch_grid.h"
#include "bindings/launch_state.h"

namespace enceladus {

struct KernelObject {
  PyObject_HEAD KernelState* state;  // null until `_configure`
};

// The state, or an error where __init__ was not called.
KernelState& state_of(PyObject* kernel);

// A grid as written: extents, or a function of the arguments.
struct GridSource {
  Grid extents;
  PyObject* function = nullptr;  // borrowed
};

void launch(PyObject* kernel, const GridSource& grid, const CallArguments& call);

// Compiles for the arguments, which may be stand-ins, and returns the CompiledKernel.
nanobind::object prepare(PyObject* kernel, const CallArguments& call);

// While on, in this thread, a launch that would wait for its result raises instead. Returns the
// previous setting.
bool set_waiting_forbidden(bool forbidden);
// Whether launches on NumPy arrays return at once. Returns the previous setting.
bool set_numpy_asynchronous(bool asynchronous);

// Adds the types KernelBase and Launcher to the module.
void add_launcher_types(nanobind::module_& module);

}  // namespace enceladus
