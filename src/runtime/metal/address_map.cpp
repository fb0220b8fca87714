#include "runtime/metal/address_map.h"

namespace enceladus::metal {

void AddressMap::insert(uint64_t base, uint64_t bytes, Id buffer) {
  const std::lock_guard lock(mutex_);
  entries_[base] = {bytes, buffer};
}

void AddressMap::erase(uint64_t base) {
  const std::lock_guard lock(mutex_);
  entries_.erase(base);
}

std::optional<BoundPointer> AddressMap::find(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto behind = entries_.upper_bound(address);
  if (behind == entries_.begin()) return std::nullopt;
  const auto& [base, entry] = *--behind;
  if (address - base > entry.bytes) return std::nullopt;
  return BoundPointer{entry.buffer, address - base};
}

}  // namespace enceladus::metal
