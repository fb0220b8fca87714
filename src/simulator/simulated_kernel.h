// The entry to the simulator: load MSL text, launch it on memory, get reports.
//
//   SimulatedKernel kernel = SimulatedKernel::load(msl, "add", {});
//   Reports reports = kernel.run({.bindings = ..., .grid = {4, 1, 1}, .threads = {128, 1, 1}});
//
// A launch runs its threadgroups one after the other on the calling thread; launches of one kernel
// take turns. Knows nothing of Metal's host interface: that is the fake framework's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulator/compile_msl.h"
#include "simulator/memory_map.h"
#include "simulator/report.h"

namespace enceladus::simulator {

// In which order SIMD groups run to their next barrier, lanes to their next SIMD operation, and
// threadgroups one after the other.
enum class Schedule : uint8_t { kInOrder, kReversed, kRandom };

// How 8x8 matrices lie in the lanes: Apple's layout, or another one, so that a test can tell
// whether a kernel relies on it.
enum class FragmentLayout : uint8_t { kApple, kPermuted };

struct ThreadgroupMemory {
  uint32_t slot = 0;
  size_t bytes = 0;
};

struct LaunchRequest {
  std::vector<BoundMemory> bindings;                  // buffers and bytes, by slot
  std::vector<ThreadgroupMemory> threadgroup_memory;  // sizes of threadgroup arguments
  std::array<uint32_t, 3> grid = {1, 1, 1};           // threadgroups
  std::array<uint32_t, 3> threads = {32, 1, 1};       // of each threadgroup; at most 1024 in all
  Schedule schedule = Schedule::kInOrder;
  uint64_t seed = 0;   // of random schedules
  bool strict = true;  // a SIMD operation of only some lanes is an error
  FragmentLayout fragment_layout = FragmentLayout::kApple;
  uint64_t watchdog_steps = 400'000'000;  // basic blocks without a barrier or an end
  size_t maximal_reports = 100;
  std::vector<std::string>* log = nullptr;  // takes the lines that the kernel logs with os_log
};

class KernelImage;

class SimulatedKernel {
 public:
  // Throws MslError or SimulatorUnavailable.
  static SimulatedKernel load(const std::string& msl, const std::string& entry,
                              const CompileOptions& options);
  ~SimulatedKernel();
  SimulatedKernel(SimulatedKernel&&) noexcept;

  // What was found wrong, each fault once, in the order of its first occurrence. Buffers hold what
  // the kernel wrote even then; a launch that cannot go on (a wild address, an endless loop) stops
  // with its report. Throws std::invalid_argument for a launch that does not fit the kernel.
  Reports run(const LaunchRequest& request) const;

  const KernelSignature& signature() const { return signature_; }
  // Bytes of the threadgroup arrays that the kernel itself declares.
  size_t static_threadgroup_bytes() const;

 private:
  SimulatedKernel(KernelSignature signature, std::unique_ptr<KernelImage> image);

  KernelSignature signature_;
  std::unique_ptr<KernelImage> image_;
};

}  // namespace enceladus::simulator
