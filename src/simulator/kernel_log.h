// Lines that kernels log, formatted as printf does.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace enceladus::simulator {

// Each value is an integer of 64 bits; for a conversion of floats, the low 32 bits are a float.
// A conversion without a value, and one that is not known, are kept as they are.
std::string format_log(const char* format, std::span<const uint64_t> values);

}  // namespace enceladus::simulator
