#include "runtime/cuda/host_arrays.h"

#include <algorithm>

namespace enceladus::cuda {
namespace {

// Allocations of the device start at multiples of this, so an array keeps its alignment.
constexpr uint64_t kAlignment = 256;

}  // namespace

HostArrays::HostArrays(const Launch& launch, MemoryPool& pool, Staging& staging)
    : pool_(pool),
      staging_(staging),
      parameters_(launch.parameters.begin(), launch.parameters.end()) {
  collect(launch);
  merge();
  for (Region& region : regions_) place(region);
  translate(launch);
}

HostArrays::~HostArrays() {
  for (const Region& region : regions_)
    if (region.memory) pool_.free(region.memory);
}

void HostArrays::collect(const Launch& launch) {
  const std::vector<Parameter>& known = launch.kernel->artifact().parameters;
  for (const uint16_t index : launch.host_arrays) {
    const uint64_t low = launch.extents[2 * size_t{index}];
    const uint64_t high = launch.extents[2 * size_t{index} + 1];
    if (low == high) continue;
    // What is written only in part needs its other elements too, so it is copied in as well.
    regions_.push_back({.low = low,
                        .high = high,
                        .is_used = known[index].is_read || known[index].is_written,
                        .is_written = known[index].is_written});
  }
}

void HostArrays::merge() {
  std::sort(regions_.begin(), regions_.end(),
            [](const Region& a, const Region& b) { return a.low < b.low; });
  std::vector<Region> merged;
  for (const Region& region : regions_) {
    if (merged.empty() || merged.back().high <= region.low) {
      merged.push_back(region);
      continue;
    }
    Region& last = merged.back();
    last.high = std::max(last.high, region.high);
    last.is_used |= region.is_used;
    last.is_written |= region.is_written;
  }
  regions_ = std::move(merged);
}

void HostArrays::place(Region& region) {
  const uint64_t offset = region.low % kAlignment;
  const auto bytes = static_cast<int64_t>(region.high - region.low);
  region.memory = pool_.allocate(bytes + static_cast<int64_t>(offset));
  region.first = region.memory + offset;
  if (region.is_used)
    staging_.upload(region.first, reinterpret_cast<const void*>(region.low), bytes);
}

void HostArrays::translate(const Launch& launch) {
  for (const uint16_t index : launch.host_arrays) {
    const uint64_t address = parameters_[index];
    for (const Region& region : regions_)
      if (address >= region.low && address < region.high)
        parameters_[index] = region.first + (address - region.low);
  }
}

void HostArrays::copy_back() {
  for (const Region& region : regions_)
    if (region.is_written)
      staging_.download(reinterpret_cast<void*>(region.low), region.first,
                        static_cast<int64_t>(region.high - region.low));
}

}  // namespace enceladus::cuda
