#include "runtime/cuda/kernel_call.h"

namespace enceladus::cuda {

Result launch_configured(const Driver& driver, const LaunchConfiguration& shape,
                         FunctionHandle function, void** arguments) {
  if (shape.attribute_count)
    return driver.launch_kernel_extended(&shape, function, arguments, nullptr);
  return driver.launch_kernel(function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0],
                              shape.block[1], shape.block[2], shape.shared_bytes, shape.stream,
                              arguments, nullptr);
}

}  // namespace enceladus::cuda
