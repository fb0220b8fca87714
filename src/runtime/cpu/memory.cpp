#include "runtime/cpu/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace enceladus::cpu {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kMapFrom = int64_t{4} << 20;  // smaller blocks stay with the C library
constexpr int64_t kAlignment = 64;

// Fresh mappings hold zeros. Maps one huge page more than needed and gives the ends back, because
// mmap itself aligns to small pages only.
MemoryBlock map_huge(int64_t bytes) {
  const int64_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* raw = mmap(nullptr, static_cast<size_t>(rounded + kHugePage), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  char* begin = static_cast<char*>(raw);
  const int64_t head = (kHugePage - reinterpret_cast<intptr_t>(raw) % kHugePage) % kHugePage;
  if (head) munmap(begin, static_cast<size_t>(head));
  munmap(begin + head + rounded, static_cast<size_t>(kHugePage - head));
#ifdef MADV_HUGEPAGE
  madvise(begin + head, static_cast<size_t>(rounded), MADV_HUGEPAGE);  // advice: may be refused
#endif
  return {begin + head, bytes, rounded};
}

}  // namespace

MemoryBlock allocate_memory(int64_t bytes, bool zeroed) {
  if (bytes < 0 || bytes > INT64_MAX - 2 * kHugePage) throw std::bad_alloc();
  if (bytes >= kMapFrom) return map_huge(bytes);
  const int64_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
  void* data = std::aligned_alloc(kAlignment, static_cast<size_t>(rounded));
  if (!data) throw std::bad_alloc();
  if (zeroed) std::memset(data, 0, static_cast<size_t>(rounded));
  return {data, bytes, 0};
}

void free_memory(const MemoryBlock& block) {
  if (block.mapped)
    munmap(block.data, static_cast<size_t>(block.mapped));
  else
    std::free(block.data);
}

}  // namespace enceladus::cpu
