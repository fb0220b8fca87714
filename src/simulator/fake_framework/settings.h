// What a test chooses about the machine that the stand-in pretends to be, and about how it runs
// kernels. Read when a device is asked or a launch runs. One for the process.
#pragma once

#include <atomic>
#include <cstdint>

#include "simulator/simulated_kernel.h"

namespace enceladus::fake_metal {

// The machine: macOS 26, on a chip of family Apple9 unless a test chooses another.
inline constexpr uint64_t kSystemVersion = 26;

struct Settings {
  std::atomic<uint64_t> apple_family{9};
  std::atomic<bool> has_metal4{true};
  std::atomic<bool> has_logs{true};  // false: a macOS before 15, without MTLLogState
  std::atomic<simulator::Schedule> schedule{simulator::Schedule::kInOrder};
  std::atomic<uint64_t> seed{0};  // each launch of a random schedule adds one to it
  std::atomic<bool> strict{true};
  std::atomic<simulator::FragmentLayout> fragment_layout{simulator::FragmentLayout::kApple};
  std::atomic<uint64_t> watchdog_steps{400'000'000};
  std::atomic<bool> executes{true};             // false: launches do nothing
  std::atomic<bool> records{true};              // false: launches are checked and forgotten
  std::atomic<int64_t> completion_delay_us{0};  // before a command buffer is completed

  static Settings& get() {
    static Settings& settings = *new Settings;
    return settings;
  }
};

}  // namespace enceladus::fake_metal
