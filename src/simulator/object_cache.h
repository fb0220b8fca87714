// The directory where compiled kernels, the Metal headers and their precompiled form are kept:
// names from contents, and files that appear whole or not at all, so that processes can share it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "support/hash.h"

namespace enceladus::simulator {

// `chosen`, or $ENCELADUS_CACHE_DIR, or ~/.cache/enceladus; below it "simulator".
std::filesystem::path cache_root(const std::string& chosen);

std::string read_file(const std::filesystem::path& path);
// Throws SimulatorUnavailable.
void write_file(const std::filesystem::path& path, std::string_view text);

// Two independent 64-bit hashes: texts that share both by accident do not happen.
class Digest {
 public:
  Digest& add(std::string_view text) {
    first_ = hash_bytes(text.data(), text.size(), first_);
    second_ = hash_bytes(text.data(), text.size(), second_ ^ 0xa5a5a5a5a5a5a5a5);
    return *this;
  }
  std::string text() const;

 private:
  uint64_t first_ = kHashSeed;
  uint64_t second_ = ~kHashSeed;
};

// A directory that is filled beside its final place and renamed; removed if that does not happen.
class StagedDirectory {
 public:
  // Throws SimulatorUnavailable.
  explicit StagedDirectory(std::filesystem::path target);
  ~StagedDirectory();
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;

  const std::filesystem::path& path() const { return staged_; }
  // Another process may have been quicker: what it made is the same.
  void publish();

 private:
  std::filesystem::path target_;
  std::filesystem::path staged_;
};

}  // namespace enceladus::simulator
