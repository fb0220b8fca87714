// Launches on a framework's own stream or graph of Metal: torch tensors on mps, and MLX arrays
// where launches join MLX's graph. The frameworks are called from Python (enceladus/interop/mps.py,
// mlx.py); here arguments take the form in which Metal binds them.
#pragma once

#include <nanobind/nanobind.h>

#include <span>

#include "runtime/common/device.h"

namespace enceladus {

// On torch's stream; where that cannot be, on ours, with both waited for.
// `objects`: the array of each parameter, null for scalars. `compiled`: what keeps the prepared
// kernel, in an attribute `mps_kernel`, beside the `artifact` that it is made from.
void submit_on_mps(Device& device, const Launch& request, std::span<PyObject* const> objects,
                   nanobind::handle compiled);

// False, and nothing is launched, where the launch must be done at once; that was logged. The
// prepared kernel is kept in `mlx_kernel`.
bool join_mlx_graph(const Launch& request, std::span<PyObject* const> objects,
                    nanobind::handle compiled);

}  // namespace enceladus
