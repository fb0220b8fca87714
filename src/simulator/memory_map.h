// The memory that one launch may touch: buffers, bytes of constants and threadgroup arrays, each a
// region with red zones around it. Buffers are copied into an arena of the launch and copied back
// after it, so that a wrong store can only hit a red zone. Buffers that overlap in the caller's
// memory overlap here, too. Knows nothing of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simulator/race_cells.h"

namespace enceladus::simulator {

enum class RegionKind : uint8_t { kDevice, kConstant, kThreadgroup };

struct Region {
  uintptr_t low = 0;
  uintptr_t high = 0;
  RegionKind kind = RegionKind::kDevice;
  bool read_only = false;
  std::string name;                  // "buffer(2)", "threadgroup array `shared`"
  std::unique_ptr<RaceCells> cells;  // none for what nobody writes
};

// What the launch binds to one buffer slot.
struct BoundMemory {
  uint32_t slot = 0;
  const void* data = nullptr;
  size_t bytes = 0;
  bool read_only = false;  // a buffer that no kernel may write, or constants
  bool constants = false;  // setBytes: `data` is only read
  std::string name = {};   // in messages; empty: its slot
  // The last word may be touched although it ends behind `data`: atomics of narrow elements work on
  // whole words. What lies behind is neither read nor written.
  bool whole_words = false;
};

class MemoryMap {
 public:
  static constexpr size_t kRedZone = 64 * 1024;

  MemoryMap() = default;
  ~MemoryMap();
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;

  // Lays out and fills the arena: `bound` in any order, then threadgroup memory of the given sizes.
  // Call it once. Throws std::bad_alloc.
  void build(std::span<const BoundMemory> bound, std::span<const size_t> threadgroup_bytes);
  // Adds memory that is not the arena's: a static threadgroup array of the kernel's image.
  void add_threadgroup_array(uintptr_t low, size_t bytes, const std::string& name);

  // Where the kernel finds what was bound, in the order of `bound`.
  uintptr_t address_of_bound(size_t index) const { return bound_addresses_[index]; }
  uintptr_t address_of_threadgroup(size_t index) const { return threadgroup_addresses_[index]; }
  // The region that holds all of [address, address + size), or null.
  Region* find(uintptr_t address, size_t size);
  // The region that ends or begins nearest to the address, or null where there is none.
  const Region* nearest(uintptr_t address) const;
  // Whether an access there harms nobody: the arena with its red zones.
  bool is_mapped(uintptr_t address) const { return address - base_ < bytes_; }
  // Fills threadgroup memory with NaNs, as what a threadgroup finds there is anything.
  void poison_threadgroup_memory();
  // Writes what kernels may have written back to where it came from.
  void copy_back() const;

 private:
  struct Piece;

  std::vector<Region> regions_;
  size_t last_found_ = 0;
  size_t last_found_threadgroup_ = 0;
  uintptr_t base_ = 0;
  size_t bytes_ = 0;
  std::vector<uintptr_t> bound_addresses_;
  std::vector<uintptr_t> threadgroup_addresses_;
  struct CopyBack {
    void* to;
    uintptr_t from;
    size_t bytes;
  };
  std::vector<CopyBack> copy_back_;
};

}  // namespace enceladus::simulator
