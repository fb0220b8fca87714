// How memory operations see memory: in which order of axes a tile of pointers or a descriptor's
// block is contiguous, and how many neighbouring elements one access can move. Not: which layout is
// chosen from that (assignment.h).
#pragma once

#include <vector>

#include "analysis/facts.h"
#include "ir/ir.h"
#include "lowering/tile_to_simt/layouts.h"
#include "lowering/tile_to_simt/target.h"

namespace enceladus::simt {

// The registers of a fragment that an edge masks or not together (groups_inside).
inline constexpr int64_t kFragmentGroup = 2;

struct AccessShape {
  Shape shape;
  std::vector<int> order;  // axes, the most contiguous first
  int64_t contiguity = 1;  // elements along order[0] that are neighbours in memory
  int64_t alignment = 1;   // elements: what the first of such a run is a multiple of
  int64_t uniform = 1;     // elements along order[0] that share their mask
  int element_bytes = 4;
  // Elements that one access may move, at most 16 bytes.
  int64_t widest() const;
};

// Of load, store, atomics, descriptor_load and descriptor_store on tiles.
AccessShape access_shape(const ir::Operation& access, const analysis::Facts& facts);

// The bytes that neighbouring registers and lanes of one warp access without a gap: with all
// accesses of the warp together, or with each of them alone.
int64_t coalesced_bytes(const AccessShape& access, const LinearLayout& layout, Together together);

// Whether a load of a tile can go to shared memory without passing through registers: in words of
// at least 4 bytes, with zeros where its mask is false.
bool can_copy_async(const ir::Operation& load, const analysis::Facts& facts);

}  // namespace enceladus::simt
