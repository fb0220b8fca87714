// Which Metal buffer an address belongs to: launches carry host addresses, Metal wants a buffer and
// an offset. Holds the buffers in which tensors lie; any thread may use it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/metal/objc.h"

namespace enceladus::metal {

struct BoundPointer {
  static constexpr uint64_t kUnknown = UINT64_MAX;

  Id buffer = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = kUnknown;  // what the argument has from there on; the simulator checks it

  bool operator==(const BoundPointer&) const = default;
};

class AddressMap {
  struct Entry {
    uint64_t bytes;
    Id buffer;
    int uses;
  };

 public:
  // False, and nothing is done, where another buffer has some of the addresses. The same buffer may
  // come several times; it stays until it was erased as often.
  bool insert(uint64_t base, uint64_t bytes, Id buffer);
  void erase(uint64_t base);
  // Of the buffer that holds the address, its end included: an empty view may point there.
  std::optional<BoundPointer> find(uint64_t address) const { return Reader(*this).find(address); }

  // Looks up several addresses under one lock: a launch has some, and a lock costs as much as a
  // look-up.
  class Reader {
   public:
    explicit Reader(const AddressMap& map) : entries_(map.entries_), lock_(map.mutex_) {}
    std::optional<BoundPointer> find(uint64_t address) const;

   private:
    const std::map<uint64_t, Entry>& entries_;
    const std::lock_guard<std::mutex> lock_;
  };

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, Entry> entries_;  // by base
};

}  // namespace enceladus::metal
