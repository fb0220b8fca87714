// What the CPU code generator and the CPU runtime agree on: the arguments of a compiled kernel's
// entry point. Plain C layout; offsets are relied on by generated code.
#pragma once

#include <cstdint>

namespace enceladus {

// Of each worker's scratch, the runtime's own.
inline constexpr uint64_t kScratchHeaderBytes = 64;

struct CpuScratchHeader {
  // The runtime changes it for every launch, so that what a kernel keeps in scratch between calls
  // is known to be stale.
  uint64_t generation;
  int32_t start[3];  // the first program's place in the grid, by axis
  // The kernel sets it to the generation where it has left counts in this scratch. Once no program
  // of the launch runs any more, the runtime calls the entry with no programs: it adds them to
  // memory.
  uint64_t counted_in;
};
static_assert(sizeof(CpuScratchHeader) <= kScratchHeaderBytes);

// Why a program stopped early or what it has to say. The kernel calls these through CpuHost; each
// returns to the kernel, which goes on (a failed assertion is reported at the next
// synchronization).
struct CpuHost {
  // One formatted line of tl.device_print, without the line break. Not terminated.
  void (*print)(void* context, const char* text, int64_t length);
  // A failed tl.device_assert, or an access out of bounds in debug mode (kind 1). `message` is
  // static text of the kernel: "file:line: sentence".
  void (*failed)(void* context, int32_t kind, const char* message, const int32_t program[3]);
};

enum : uint32_t { kCpuFlagStreaming = 1 };

struct CpuLaunch {
  const uint64_t* parameters;  // one slot per run-time parameter, raw bits, upper bytes zero
  const uint64_t* extents;     // [low, high) byte addresses per parameter; null unless asked for
  int32_t grid[3];
  uint32_t flags;  // kCpuFlag...
  const CpuHost* host;
  void* host_context;
  // The launch is abandoned once the number at `abandoned` is no lower than `ticket`. The kernel
  // looks before each program and each round of a `while`, and returns at once; what programs have
  // stored until then stays.
  const uint64_t* abandoned;
  uint64_t ticket;
};

// Runs programs [first, last) in the artifact's walk order; there are none only where the scratch
// holds counts of this launch, and then `start` is the number of the thread whose scratch it is,
// and how many threads there are. `scratch` is 64-byte aligned memory of this worker:
// kScratchHeaderBytes that start with a CpuScratchHeader, then the kernel's own
// artifact.scratch_bytes. Non-temporal stores, which a kernel makes under kCpuFlagStreaming, are
// not fenced: the caller does that.
using CpuEntry = void (*)(const CpuLaunch* launch, int64_t first, int64_t last, void* scratch);

}  // namespace enceladus
