#include "simulator/memory_map.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace enceladus::simulator {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kWord = 4;  // of an atomic
constexpr int kRedZoneByte = 0xCB;
constexpr int kPoisonByte = 0xFF;  // a NaN in every float format, -1 as an integer

std::string name_of(const BoundMemory& memory) {
  std::string slot = std::to_string(memory.slot);
  return memory.name.empty() ? "buffer(" + slot + ")"
                             : "`" + memory.name + "` (buffer " + slot + ")";
}

size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

}  // namespace

// A stretch of the caller's memory that one or more overlapping bindings cover.
struct MemoryMap::Piece {
  uintptr_t low, high;
  uintptr_t end;  // of the caller's memory, at most 3 bytes before `high`
  bool read_only, constants;
  uint32_t slot;
  std::string name;
  uintptr_t address = 0;
};

MemoryMap::~MemoryMap() {
  if (base_ != 0) munmap(reinterpret_cast<void*>(base_), bytes_);
}

void MemoryMap::build(std::span<const BoundMemory> bound,
                      std::span<const size_t> threadgroup_bytes) {
  std::vector<Piece> pieces;
  for (const BoundMemory& one : bound) {
    auto low = reinterpret_cast<uintptr_t>(one.data);
    const size_t touched = one.whole_words ? round_up(one.bytes, kWord) : one.bytes;
    pieces.push_back({low, low + touched, low + one.bytes, one.read_only, one.constants, one.slot,
                      name_of(one)});
  }
  // Overlapping pieces become one; bytes of constants are copies and overlap with nothing.
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::pair(a.constants, a.low) < std::pair(b.constants, b.low);
  });
  std::vector<Piece> merged;
  for (const Piece& piece : pieces) {
    if (!merged.empty() && !piece.constants && piece.low < merged.back().high) {
      merged.back().high = std::max(merged.back().high, piece.high);
      merged.back().end = std::max(merged.back().end, piece.end);
      merged.back().read_only = merged.back().read_only && piece.read_only;
    } else {
      merged.push_back(piece);
    }
  }

  size_t total = kRedZone;
  for (const Piece& piece : merged) {
    total += round_up(piece.high - piece.low, kPage) + kPage + kRedZone;
  }
  for (size_t bytes : threadgroup_bytes) total += round_up(bytes, kPage) + kRedZone;
  void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = reinterpret_cast<uintptr_t>(memory);
  bytes_ = total;

  uintptr_t next = base_ + kRedZone;
  auto place = [&](size_t bytes, size_t page_offset) {
    uintptr_t address = next + page_offset;
    uintptr_t end = address + bytes;
    // Poison enough that a read close by gives nonsense; the rest of the red zone stays untouched.
    std::memset(reinterpret_cast<void*>(address - kPage), kRedZoneByte, kPage);
    std::memset(reinterpret_cast<void*>(end), kRedZoneByte, kPage);
    next = round_up(end, kPage) + kRedZone;
    return address;
  };
  for (Piece& piece : merged) {
    size_t bytes = piece.high - piece.low;
    // The place within a page is kept, so that alignment is what the caller's memory has.
    piece.address = place(bytes, piece.low % kPage);
    auto* array = reinterpret_cast<void*>(piece.low);
    const size_t held = piece.end - piece.low;
    std::memcpy(reinterpret_cast<void*>(piece.address), array, held);
    if (!piece.read_only) copy_back_.push_back({array, piece.address, held});
    RegionKind kind = piece.constants ? RegionKind::kConstant : RegionKind::kDevice;
    Region region{.low = piece.address,
                  .high = piece.address + bytes,
                  .kind = kind,
                  .read_only = piece.read_only,
                  .name = piece.name,
                  .cells = nullptr};
    if (!piece.read_only) region.cells = std::make_unique<RaceCells>(bytes + piece.low % 4);
    regions_.push_back(std::move(region));
  }
  for (const BoundMemory& one : bound) {
    auto low = reinterpret_cast<uintptr_t>(one.data);
    for (const Piece& piece : merged) {
      if (piece.constants != one.constants || low < piece.low || low + one.bytes > piece.high) {
        continue;
      }
      if (piece.constants && piece.slot != one.slot) continue;
      bound_addresses_.push_back(piece.address + (low - piece.low));
      break;
    }
  }
  for (size_t i = 0; i < threadgroup_bytes.size(); ++i) {
    uintptr_t address = place(threadgroup_bytes[i], 0);
    threadgroup_addresses_.push_back(address);
    add_threadgroup_array(address, threadgroup_bytes[i],
                          "threadgroup argument " + std::to_string(i));
  }
}

void MemoryMap::add_threadgroup_array(uintptr_t low, size_t bytes, const std::string& name) {
  Region region{.low = low,
                .high = low + bytes,
                .kind = RegionKind::kThreadgroup,
                .name = name,
                .cells = std::make_unique<RaceCells>(bytes)};
  regions_.push_back(std::move(region));
}

Region* MemoryMap::find(uintptr_t address, size_t size) {
  auto holds = [&](const Region& region) {
    return address >= region.low && address + size <= region.high;
  };
  // Kernels alternate between device and threadgroup memory: remember one of each.
  if (regions_.empty()) return nullptr;
  if (holds(regions_[last_found_])) return &regions_[last_found_];
  if (holds(regions_[last_found_threadgroup_])) return &regions_[last_found_threadgroup_];
  for (size_t i = 0; i < regions_.size(); ++i) {
    if (!holds(regions_[i])) continue;
    (regions_[i].kind == RegionKind::kThreadgroup ? last_found_threadgroup_ : last_found_) = i;
    return &regions_[i];
  }
  return nullptr;
}

const Region* MemoryMap::nearest(uintptr_t address) const {
  const Region* best = nullptr;
  uintptr_t best_distance = UINTPTR_MAX;
  for (const Region& region : regions_) {
    uintptr_t distance = address < region.low    ? region.low - address
                         : address < region.high ? 0
                                                 : address - region.high;
    if (distance < best_distance) {
      best = &region;
      best_distance = distance;
    }
  }
  return best;
}

void MemoryMap::poison_threadgroup_memory() {
  for (Region& region : regions_) {
    if (region.kind != RegionKind::kThreadgroup) continue;
    std::memset(reinterpret_cast<void*>(region.low), kPoisonByte, region.high - region.low);
  }
}

void MemoryMap::copy_back() const {
  for (const CopyBack& copy : copy_back_) {
    std::memcpy(copy.to, reinterpret_cast<void*>(copy.from), copy.bytes);
  }
}

}  // namespace enceladus::simulator
