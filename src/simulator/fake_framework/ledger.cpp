#include "simulator/fake_framework/ledger.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace enceladus::fake_metal {
namespace {

// Whoever ends without asking shall see them all the same.
void print_unread_violations() {
  for (const std::string& text : Ledger::get().take_violations()) {
    std::fprintf(stderr, "metal-sim: the host broke the contract: %s\n", text.c_str());
  }
}

}  // namespace

Ledger& Ledger::get() {
  // Never destroyed: threads of command queues may still end when the process does.
  static Ledger& ledger = *[] {
    auto* made = new Ledger;
    std::atexit(print_unread_violations);
    return made;
  }();
  return ledger;
}

void Ledger::note_violation(const std::string& text) {
  std::lock_guard lock(mutex_);
  if (std::find(violations_.begin(), violations_.end(), text) == violations_.end()) {
    violations_.push_back(text);
  }
}

std::vector<std::string> Ledger::take_violations() {
  std::lock_guard lock(mutex_);
  return std::exchange(violations_, {});
}

void Ledger::note_reports(std::vector<LaunchReport> reports) {
  std::lock_guard lock(mutex_);
  std::move(reports.begin(), reports.end(), std::back_inserter(reports_));
}

std::vector<LaunchReport> Ledger::take_reports() {
  std::lock_guard lock(mutex_);
  return std::exchange(reports_, {});
}

void Ledger::inject(const std::string& call, uint64_t nth, const std::string& message) {
  std::lock_guard lock(mutex_);
  injections_.push_back({call, nth, message});
  injection_count_ = injections_.size();
}

void Ledger::clear_injections() {
  std::lock_guard lock(mutex_);
  injections_.clear();
  injection_count_ = 0;
}

std::optional<std::string> Ledger::take_injection(std::string_view call) {
  if (injection_count_ == 0) return std::nullopt;
  std::lock_guard lock(mutex_);
  for (auto injection = injections_.begin(); injection != injections_.end(); ++injection) {
    if (injection->call != call || --injection->left > 0) continue;
    std::string message = std::move(injection->message);
    injections_.erase(injection);
    injection_count_ = injections_.size();
    return message;
  }
  return std::nullopt;
}

void Ledger::count_function(const std::string& name) {
  std::lock_guard lock(mutex_);
  ++functions_[name];
}

std::map<std::string, uint64_t> Ledger::functions_called() const {
  std::lock_guard lock(mutex_);
  return functions_;
}

void Ledger::reset_calls() {
  std::lock_guard lock(mutex_);
  functions_.clear();
}

}  // namespace enceladus::fake_metal
