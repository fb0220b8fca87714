// Arrays in a GPU's memory of libraries that show `__cuda_array_interface__` (versions 2 and 3), as
// Numba's device arrays, which have no DLPack. Not: our own tensors' interface, which is Python.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "bindings/tensor.h"

namespace enceladus {

// The array, which the result keeps alive; nothing for objects without the interface. What is
// queued on the device from now on waits for the stream that the interface names. Throws
// ArgumentProblem for what kernels cannot take.
std::optional<TensorObject> import_cuda_array(nanobind::handle object);

}  // namespace enceladus
