#include "runtime/common/device.h"

#include <algorithm>
#include <cstring>

namespace enceladus {

// Memory that the host shares needs no device to copy it.
void Device::copy_to_host(void* host, const void* from, int64_t bytes) {
  default_stream().synchronize();
  std::memcpy(host, from, static_cast<size_t>(bytes));
}

void Device::copy_from_host(void* to, const void* host, int64_t bytes) {
  default_stream().synchronize();
  std::memcpy(to, host, static_cast<size_t>(bytes));
}

void Device::copy_within(void* to, const void* from, int64_t bytes) {
  default_stream().synchronize();
  std::memmove(to, from, static_cast<size_t>(bytes));
}

void Device::fill(void* to, int64_t count, int size, uint32_t bits) {
  default_stream().synchronize();
  if (size == 1) std::fill_n(static_cast<uint8_t*>(to), count, static_cast<uint8_t>(bits));
  if (size == 2) std::fill_n(static_cast<uint16_t*>(to), count, static_cast<uint16_t>(bits));
  if (size == 4) std::fill_n(static_cast<uint32_t*>(to), count, bits);
}

}  // namespace enceladus
