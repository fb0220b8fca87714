// ENCELADUS_FLUSH_EVERY: how many launches a stream may gather before it hands them to its device
// in one submission. Read when a device is opened.
#pragma once

#include <cstdint>

namespace enceladus {

// At least 1; 64 where the variable is not set. Throws std::invalid_argument for what is no such
// number (the rules are those of enceladus/_environment.py).
int32_t flush_every();

}  // namespace enceladus
