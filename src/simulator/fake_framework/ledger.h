// What the stand-in remembers for the tests of a host program: the calls it made, how it broke the
// contract of Metal or Objective-C, what the simulator found in its kernels, and the failures that
// a test wants to see. One for the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/report.h"

namespace enceladus::fake_metal {

// The host did what the contract forbids; the call that finds out has no effect.
class ContractViolation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A finding of the simulator with the launch that it belongs to.
struct LaunchReport {
  simulator::Report report;
  std::string command_buffer;  // its label
  uint64_t launch = 0;         // of the command buffer, from 0
};

class Ledger {
 public:
  static Ledger& get();

  // Each text once.
  void note_violation(const std::string& text);
  std::vector<std::string> take_violations();

  void note_reports(std::vector<LaunchReport> reports);
  std::vector<LaunchReport> take_reports();

  // The `nth` next call (1: the next one) of a selector or C function fails with that message.
  void inject(const std::string& call, uint64_t nth, const std::string& message);
  void clear_injections();
  // The message, if this call shall fail.
  std::optional<std::string> take_injection(std::string_view call);

  // Calls of C functions; those of methods are counted in their classes.
  void count_function(const std::string& name);
  std::map<std::string, uint64_t> functions_called() const;
  void reset_calls();

 private:
  struct Injection {
    std::string call;
    uint64_t left;
    std::string message;
  };

  mutable std::mutex mutex_;
  std::vector<std::string> violations_;
  std::vector<LaunchReport> reports_;
  std::vector<Injection> injections_;
  std::atomic<size_t> injection_count_{0};
  std::map<std::string, uint64_t> functions_;
};

}  // namespace enceladus::fake_metal
