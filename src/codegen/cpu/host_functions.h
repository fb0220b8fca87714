// Functions of this library that generated code calls, by their symbol names: formatting for
// tl.device_print, and reports to the launch's host.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/cpu_abi.h"

namespace enceladus::cpu {

// Debug mode cuts offsets to this many elements, which lie outside every array; of 8 bytes each,
// they and their like still fit in 64 bits several times over.
inline constexpr int64_t kFarthestElement = int64_t{1} << 57;

// The address of one of these functions by the name that generated code has for it, or null.
void* host_function(std::string_view symbol);

}  // namespace enceladus::cpu
