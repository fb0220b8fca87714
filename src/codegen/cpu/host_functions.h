// Functions of this library that generated code calls, by their symbol names: formatting for
// tl.device_print, and reports to the launch's host.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/cpu_abi.h"

namespace enceladus::cpu {

// The address of one of these functions by the name that generated code has for it, or null.
void* host_function(std::string_view symbol);

}  // namespace enceladus::cpu
