// PyTorch tensors as kernel arguments, by DLPack's C exchange API where PyTorch has it and by their
// Python methods elsewhere. Torch is never imported, only looked up once the program has done so.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "bindings/argument_view.h"

namespace enceladus {

bool is_torch_tensor(PyObject* object);
// For objects that `is_torch_tensor` accepts. A tensor that requires gradients is taken as it is,
// as Triton takes it. Throws ArgumentProblem for devices other than CPUs, NVIDIA and Apple GPUs,
// for views that torch negates lazily and for tensors that have no memory.
void view_torch_tensor(PyObject* object, ArgumentView* view);

// The stream on which torch works in this thread, of a device on which one of its tensors lies;
// nothing for devices other than CUDA's.
std::optional<void*> torch_stream(const Device& device);

}  // namespace enceladus
