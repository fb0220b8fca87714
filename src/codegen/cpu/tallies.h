// Tallies: integer sums by atomics that each thread counts for itself first. The counterpart of
// lowering/tile_to_simt/tallies.h for the CPU, where an atomic addition costs a few nanoseconds
// alone and many times that when threads fight for its line.
//
// What qualifies: a tile of relaxed atomic additions (the default for tiles) of 32- or 64-bit
// integers, whose old values nobody uses, to pointers into one parameter's array, where the
// kernel touches what may be that memory by nothing but such additions of the same type. Additions
// commute, and others see the memory of a launch when it has ended, so nobody notices when they
// come. Not in debug mode, whose bounds checks are made element by element.
//
// Each such parameter has a tally in the thread's scratch, which stands for the first elements
// behind the pointer: for a sixteenth as many as the launch may add, at most kTallyBytes of all
// tallies together; for none in a launch with few additions. Clearing and adding a tally therefore
// costs little beside the additions that it takes. What lies beyond, or below the pointer, is added
// by atomics; a thread that finds much of it there counts no further.
//
// When: the first call of the entry that a thread makes in a launch clears its tallies and says so
// in CpuScratchHeader::counted_in. Once the programs are through, or have been left because the
// launch was abandoned, the runtime calls the entry with no programs for each scratch that holds
// counts, and it adds what is not 0 to memory, by atomics.
//
// Finds them only, without LLVM; how they are computed is tally_emitter.h.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "ir/ir.h"

namespace enceladus::cpu {

inline constexpr int64_t kTallyBytes = 256 * 1024;  // half of a common second-level cache

struct Tally {
  int parameter;         // its index
  DType dtype;           // of the counts
  double additions = 0;  // of a program
  int64_t offset = 0;    // from where the tallies begin in scratch, in bytes; a multiple of 64
  int64_t elements = 0;  // at most; behind them lie 64 bytes for the emitter
};

class Tallies {
 public:
  explicit Tallies(const ir::Function& function);

  std::span<const Tally> all() const { return tallies_; }
  // The index of the tally in which the operation counts; -1 for none.
  int of(const ir::Operation& op) const;
  int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  void place();

  std::vector<Tally> tallies_;                    // by first use
  std::map<const ir::Operation*, int> counting_;  // their additions
  int64_t scratch_bytes_ = 0;
};

}  // namespace enceladus::cpu
