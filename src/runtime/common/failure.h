// What went wrong in a launch that had already been accepted: thrown by the synchronization that
// finds out, translated to a Python exception by the bindings.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace enceladus {

enum class FailureKind : uint8_t { kAssertion, kOutOfBounds, kDevice };

class LaunchFailure : public std::runtime_error {
 public:
  LaunchFailure(FailureKind kind, const std::string& kernel, const std::string& message,
                std::array<int32_t, 3> program)
      : std::runtime_error(describe(kernel, message, program)), kind_(kind), kernel_(kernel) {}
  // With a message that says where by itself.
  LaunchFailure(FailureKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  FailureKind kind() const { return kind_; }
  // Empty where only the message tells.
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

// A call of a device's driver or of its compiler failed: which, what it answered, and for which
// kernel where there is one.
class DeviceFailure : public std::runtime_error {
 public:
  // "cuda", "metal": chooses the Python exception.
  DeviceFailure(std::string target, const std::string& message)
      : std::runtime_error(message), target_(std::move(target)) {}
  const std::string& target() const { return target_; }

 private:
  std::string target_;
};

}  // namespace enceladus
