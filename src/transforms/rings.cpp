#include "transforms/rings.h"

#include <algorithm>
#include <vector>

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;

constexpr int64_t kBarrierBytes = 16;  // a slot: one for full, one for free

int64_t aligned(int64_t bytes) {
  return (bytes + kRingAlignment - 1) / kRingAlignment * kRingAlignment;
}

// From `taken` on, one ring behind the other, each with its barriers at its end.
int64_t place(const std::vector<Operation*>& rings, int64_t taken) {
  for (Operation* ring : rings) {
    int64_t offset = aligned(taken);
    ring->set_attribute(AttributeName::kOffset, offset);
    taken = offset + ring->integer(AttributeName::kSlots) *
                         (ring->integer(AttributeName::kBytes) + kBarrierBytes);
  }
  return taken;
}

}  // namespace

int64_t place_rings(ir::Function& function, int64_t taken, int64_t limit) {
  std::vector<Operation*> rings;
  ir::walk(function.body(), [&](Operation* op) {
    if (op->is(Opcode::kRing)) rings.push_back(op);
  });
  if (rings.empty()) return taken;
  int64_t least = place(rings, taken);
  if (least > limit)
    fail(DiagnosticId::kSharedMemoryExceeded, rings.back()->location(),
         {std::to_string(least), std::to_string(limit),
          std::to_string(taken) + " bytes of buffers and the rings of the tiles loaded ahead"});
  for (bool grown = true; grown;) {
    grown = false;
    for (Operation* ring : rings) {
      int64_t slots = ring->integer(AttributeName::kSlots);
      if (slots >= ring->integer_or(AttributeName::kGrow, 0)) continue;
      ring->set_attribute(AttributeName::kSlots, slots + 1);
      bool fits = place(rings, taken) <= limit;
      if (!fits) ring->set_attribute(AttributeName::kSlots, slots);
      grown |= fits;
    }
  }
  return place(rings, taken);
}

}  // namespace enceladus::transforms
