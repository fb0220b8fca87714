// The result of compiling a kernel, as plain data: what the runtime launches, what the caches keep
// and what users look at. Knows nothing of the IR.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/dtype.h"

namespace enceladus {

struct Parameter {
  std::string name;
  DType dtype = DType::kInt32;  // of the scalar, or of what the pointer points to
  bool is_pointer = false;
  bool is_read = false;     // pointers: the kernel may load from it
  bool is_written = false;  // pointers: the kernel may store to it
  int32_t slot = -1;        // metal: the buffer index in a hand-written kernel; -1: by position
  bool operator==(const Parameter&) const = default;
};

// A number known at launch, as steps of a stack machine: constants and values of parameters are
// pushed, an operation replaces the two on top.
struct LaunchStep {
  enum class Kind : uint8_t {
    kConstant,
    kParameter,  // by index; integers by their signedness, pointers as addresses
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,  // truncating
    kMinimum,
    kMaximum,
  };
  Kind kind = Kind::kConstant;
  int64_t value = 0;  // the constant, or the parameter's index
  bool operator==(const LaunchStep&) const = default;
};
using LaunchExpression = std::vector<LaunchStep>;

// CUDA: a tensor map (TMA descriptor) that the runtime encodes at each launch with new values and
// passes by value behind the parameters, as `const __grid_constant__` of 128 bytes aligned to 64.
// Axes are counted innermost first.
struct TensorMap {
  LaunchExpression address;               // of the first element, in bytes
  std::vector<LaunchExpression> shape;    // elements
  std::vector<LaunchExpression> strides;  // bytes, of all axes but the innermost
  std::vector<int32_t> box;               // elements
  int32_t element = 0;                    // CUtensorMapDataType
  int32_t swizzle = 0;                    // CUtensorMapSwizzle
  int32_t promotion = 0;                  // CUtensorMapL2promotion
  bool operator==(const TensorMap&) const = default;
};

struct Artifact {
  std::string target;                                       // "cpu", "metal", "metal-sim", "cuda"
  std::string kernel;                                       // the Python function's name
  std::string entry;                                        // symbol of the entry point
  std::string binary;                                       // cpu: an ELF or Mach-O object file
  std::vector<std::pair<std::string, std::string>> stages;  // "ir", "llir", "asm": name and text
  std::vector<Parameter> parameters;                        // run-time parameters in order
  int64_t scratch_bytes = 0;  // cpu: per worker, see support/cpu_abi.h
  int64_t shared_bytes = 0;   // gpu: per program
  int32_t num_warps = 4;
  int32_t registers = -1;  // a thread; -1 where unknown
  int32_t spills = -1;     // bytes a thread; -1 where unknown
  double bytes_per_program = 0;
  double operations_per_program = 0;
  std::array<int32_t, 3> walk = {0, 1, 2};  // grid axes, the fastest first
  // Whether programs that differ only along walk[0] share packed operands (keep them together).
  bool walk_shares_columns = false;
  bool needs_extents = false;
  bool may_not_end = false;           // has a loop whose end only running it can tell
  int32_t language_version = 0;       // metal: 31 is MSL 3.1
  std::string math_mode = "relaxed";  // "relaxed", "fast" or "precise"
  bool logs = false;                  // metal: the kernel prints through os_log
  // gpu: threads of a program; 0 is 32 * num_warps.
  int32_t threads = 0;
  // cuda: the hardware's grid is one row of at most as many programs as the device holds at once;
  // the kernel gets the launch's grid as three uint32 behind its tensor maps and walks it.
  bool is_persistent = false;
  std::vector<TensorMap> tensor_maps = {};  // cuda
  // gpu: "file.py:12: text" of each tl.device_assert. Where there are any, the kernel's last
  // parameter is a buffer: word 0 becomes 1 + the index of the first that failed, words 1 to 3 its
  // program.
  std::vector<std::string> messages = {};
  std::vector<std::string> warnings = {};  // sentences that the user is shown once
  std::string explain;                     // JSON for kernel.explain
  bool operator==(const Artifact&) const = default;
};

// A versioned, checksummed byte string, and back. `deserialize` throws std::runtime_error when the
// bytes are damaged or of another version.
std::string serialize(const Artifact& artifact);
Artifact deserialize(const std::string& bytes);

}  // namespace enceladus
