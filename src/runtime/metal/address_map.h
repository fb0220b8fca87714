// Which Metal buffer an address belongs to: launches carry host addresses, Metal wants a buffer and
// an offset. Holds the buffers of living allocations; any thread may use it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/metal/objc.h"

namespace enceladus::metal {

struct BoundPointer {
  Id buffer = nullptr;
  uint64_t offset = 0;
};

class AddressMap {
 public:
  void insert(uint64_t base, uint64_t bytes, Id buffer);
  void erase(uint64_t base);
  // Of the buffer that holds the address, its end included: an empty view may point there.
  std::optional<BoundPointer> find(uint64_t address) const;

 private:
  struct Entry {
    uint64_t bytes;
    Id buffer;
  };
  mutable std::mutex mutex_;
  std::map<uint64_t, Entry> entries_;  // by base
};

}  // namespace enceladus::metal
