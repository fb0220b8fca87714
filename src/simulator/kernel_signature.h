// The parameters of a kernel, read from its MSL text: which slot or built-in value each one takes
// and the type to cast to. A small scanner, not a parser: it understands declarations, comments and
// attributes, and leaves everything else to clang.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace enceladus::simulator {

enum class ParameterKind : uint8_t { kBuffer, kConstant, kThreadgroup, kBuiltin };

// Built-in values, in the order of the table that the entry function reads: three words each.
enum class Builtin : uint8_t {
  kThreadPositionInGrid,
  kThreadPositionInThreadgroup,
  kThreadgroupPositionInGrid,
  kThreadIndexInThreadgroup,
  kThreadIndexInSimdgroup,
  kSimdgroupIndexInThreadgroup,
  kThreadsPerGrid,
  kThreadsPerThreadgroup,
  kThreadgroupsPerGrid,
  kThreadsPerSimdgroup,
  kSimdgroupsPerThreadgroup,
};
inline constexpr int kBuiltinCount = 11;

struct KernelParameter {
  std::string name;
  std::string type;  // with address space and `*` or `&`
  ParameterKind kind = ParameterKind::kBuffer;
  Builtin builtin = Builtin::kThreadPositionInGrid;
  uint32_t slot = 0;  // of buffers, constants and threadgroup memory
  bool is_reference = false;
  bool is_const = false;  // const or constant: the kernel cannot write it
};

struct KernelSignature {
  std::string name;
  std::vector<KernelParameter> parameters;
  uint32_t line = 0;                  // of the kernel's name, from 1
  uint32_t max_total_threads = 1024;  // of a threadgroup
};

// The kernels of a text in its order, then those that it makes from templates.
std::vector<std::string> kernel_names(std::string_view msl);

// Throws MslError when there is no such kernel or a parameter cannot be understood.
KernelSignature read_signature(std::string_view msl, std::string_view entry);

// The function that the runtime calls for each thread, to be appended to the text.
std::string entry_function(const KernelSignature& signature);

}  // namespace enceladus::simulator
