// A fast 64-bit hash of bytes, for hash tables and for noticing damaged files. Not cryptographic:
// cache keys, where two inputs must never meet, are BLAKE2 digests made in Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace enceladus {

constexpr uint64_t kHashSeed = 0x9e3779b97f4a7c15;

// Folds the 128-bit product, so that every input bit reaches every output bit.
inline uint64_t mix_hash(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_bytes(const void* data, size_t size, uint64_t seed = kHashSeed) {
  constexpr uint64_t kMultiplier = 0xd6e8feb86659fd93;
  const char* bytes = static_cast<const char*>(data);
  uint64_t hash = seed ^ (size * kMultiplier);
  size_t left = size;
  for (; left >= 8; left -= 8, bytes += 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    hash = mix_hash(hash ^ word, kMultiplier);
  }
  uint64_t tail = 0;
  std::memcpy(&tail, bytes, left);
  return mix_hash(hash ^ tail, kMultiplier ^ seed);
}

}  // namespace enceladus
