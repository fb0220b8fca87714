// What went wrong in a launch that had already been accepted: thrown by the synchronization that
// finds out, translated to a Python exception by the bindings.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace enceladus {

enum class FailureKind : uint8_t { kAssertion, kOutOfBounds, kDevice };

class LaunchFailure : public std::runtime_error {
 public:
  LaunchFailure(FailureKind kind, const std::string& kernel, const std::string& message,
                std::array<int32_t, 3> program)
      : std::runtime_error(describe(kernel, message, program)), kind_(kind), kernel_(kernel) {}
  FailureKind kind() const { return kind_; }
  const std::string& kernel() const { return kernel_; }

 private:
  static std::string describe(const std::string& kernel, const std::string& message,
                              std::array<int32_t, 3> program) {
    return "kernel `" + kernel + "`, program (" + std::to_string(program[0]) + ", " +
           std::to_string(program[1]) + ", " + std::to_string(program[2]) + "): " + message;
  }
  FailureKind kind_;
  std::string kernel_;
};

}  // namespace enceladus
