#include "runtime/metal/address_map.h"

#include <iterator>

namespace enceladus::metal {

bool AddressMap::insert(uint64_t base, uint64_t bytes, Id buffer) {
  const std::lock_guard lock(mutex_);
  const auto behind = entries_.upper_bound(base);
  if (behind != entries_.begin()) {
    auto& [before, entry] = *std::prev(behind);
    const bool is_same = before == base && entry.buffer == buffer;
    if (is_same) ++entry.uses;
    if (is_same || base - before < entry.bytes || before == base) return is_same;
  }
  if (behind != entries_.end() && behind->first - base < bytes) return false;
  entries_.emplace(base, Entry{bytes, buffer, 1});
  return true;
}

void AddressMap::erase(uint64_t base) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(base);
  if (entry != entries_.end() && --entry->second.uses == 0) entries_.erase(entry);
}

std::optional<BoundPointer> AddressMap::Reader::find(uint64_t address) const {
  auto behind = entries_.upper_bound(address);
  if (behind == entries_.begin()) return std::nullopt;
  const auto& [base, entry] = *--behind;
  if (address - base > entry.bytes) return std::nullopt;
  return BoundPointer{.buffer = entry.buffer, .offset = address - base};
}

}  // namespace enceladus::metal
