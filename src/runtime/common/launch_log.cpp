#include "runtime/common/launch_log.h"

#include <cstdio>
#include <utility>

namespace enceladus {
namespace {

// A program that prints without ever synchronizing goes to the terminal itself from here on.
constexpr size_t kPrintedLimit = size_t{1} << 20;

}  // namespace

void LaunchLog::add_failure(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  failure_ = std::move(failure);
  has_failure_.store(true, std::memory_order_release);
}

void LaunchLog::add_line(std::string_view line) {
  const std::lock_guard lock(mutex_);
  printed_.append(line).push_back('\n');
  has_printed_.store(true, std::memory_order_release);
  if (printed_.size() < kPrintedLimit) return;
  std::fwrite(printed_.data(), 1, printed_.size(), stdout);
  printed_.clear();
}

void LaunchLog::raise_failure() {
  if (!has_failure_.load(std::memory_order_acquire)) return;
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    failure.swap(failure_);
    has_failure_.store(false, std::memory_order_relaxed);
  }
  if (failure) std::rethrow_exception(failure);
}

std::string LaunchLog::take_printed() {
  if (!has_printed_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  has_printed_.store(false, std::memory_order_relaxed);
  return std::exchange(printed_, {});
}

}  // namespace enceladus
