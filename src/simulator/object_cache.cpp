#include "simulator/object_cache.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "simulator/errors.h"

namespace enceladus::simulator {

namespace fs = std::filesystem;

fs::path cache_root(const std::string& chosen) {
  if (!chosen.empty()) return fs::path(chosen) / "simulator";
  if (const char* set = std::getenv("ENCELADUS_CACHE_DIR"); set != nullptr && *set != '\0') {
    return fs::path(set) / "simulator";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home == nullptr ? "/tmp" : home) / ".cache/enceladus/simulator";
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) throw SimulatorUnavailable("cannot write " + path.string());
}

std::string Digest::text() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(first_),
                static_cast<unsigned long long>(second_));
  return text;
}

StagedDirectory::StagedDirectory(fs::path target) : target_(std::move(target)) {
  static std::atomic<unsigned> counter{0};
  staged_ = target_;
  staged_ += "." + std::to_string(getpid()) + "." + std::to_string(counter++);
  std::error_code error;
  fs::create_directories(staged_, error);
  if (error) {
    throw SimulatorUnavailable("cannot create " + staged_.string() + ": " + error.message());
  }
}

StagedDirectory::~StagedDirectory() {
  std::error_code ignored;
  fs::remove_all(staged_, ignored);
}

void StagedDirectory::publish() {
  std::error_code error;
  fs::rename(staged_, target_, error);
  if (error && !fs::exists(target_)) {
    throw SimulatorUnavailable("cannot create " + target_.string() + ": " + error.message());
  }
}

}  // namespace enceladus::simulator
