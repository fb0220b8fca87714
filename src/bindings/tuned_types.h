// The Python types of autotuned launches: `TunedBase`, which the autotuner derives from, and the
// `TunedLauncher` that subscripting it with a grid gives. A launch whose choice is remembered
// (tuned_choices.h) goes straight to the kernel; any other calls the autotuner's `_launch`, which
// chooses, launches, and returns the config if it may be remembered.
#pragma once

#include <nanobind/nanobind.h>

namespace enceladus {

// Adds the two types to the module.
void add_tuned_types(nanobind::module_& module);

}  // namespace enceladus
