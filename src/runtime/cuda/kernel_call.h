// One launch as plain bytes: what the driver needs of it, kept until it is handed over. For kernels
// whose arguments are the launch's parameters alone (no tensor maps, grid or messages behind them).
#pragma once

#include <array>
#include <cstring>
#include <string>

#include "runtime/cuda/driver.h"

namespace enceladus::cuda {

struct KernelCall {
  static constexpr size_t kMostArguments = 32;

  FunctionHandle function = nullptr;
  LaunchConfiguration shape;
  const std::string* name = nullptr;  // of the kernel; its text outlives the call
  size_t argument_count = 0;
  std::array<uint64_t, kMostArguments> arguments;  // raw bits; the first `argument_count` are set

  // Whether the kernel waits for its predecessor itself.
  bool may_start_early() const { return shape.attribute_count != 0; }
  // Whether the device would do the same for both. Where and how they wait for their predecessors
  // does not count.
  bool does_the_same(const KernelCall& other) const {
    return function == other.function && argument_count == other.argument_count &&
           shape.shared_bytes == other.shape.shared_bytes &&
           std::memcmp(shape.grid, other.shape.grid, sizeof(shape.grid)) == 0 &&
           std::memcmp(shape.block, other.shape.block, sizeof(shape.block)) == 0 &&
           std::memcmp(arguments.data(), other.arguments.data(),
                       argument_count * sizeof(uint64_t)) == 0;
  }
  // The arguments as the driver takes them.
  std::array<void*, kMostArguments> pointers() const {
    std::array<void*, kMostArguments> result;
    for (size_t i = 0; i < argument_count; ++i)
      result[i] = const_cast<uint64_t*>(&arguments[i]);  // the driver only reads
    return result;
  }
};

// Launches at once. The arguments are addresses, one for each parameter of the function.
Result launch_configured(const Driver& driver, const LaunchConfiguration& shape,
                         FunctionHandle function, void** arguments);

}  // namespace enceladus::cuda
