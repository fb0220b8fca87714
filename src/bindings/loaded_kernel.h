// A compiled kernel made callable on a device, kept by its CompiledKernel so that it is loaded
// once.
#pragma once

#include <nanobind/nanobind.h>

#include "runtime/common/device.h"

namespace enceladus {

// `_core.LoadedKernel`.
struct LoadedKernel {
  Ref<Kernel> kernel;
};

// The kernel of a CompiledKernel, loaded now if it was not yet (without the interpreter lock).
Ref<Kernel> loaded_kernel(nanobind::handle compiled, Device& device);

}  // namespace enceladus
