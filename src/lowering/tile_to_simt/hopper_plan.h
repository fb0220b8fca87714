// What of a kernel runs on Hopper's asynchronous units: which products are wgmma, and which
// descriptor loads the copy engine brings to rings in shared memory, started by a producer that
// runs ahead of the consumers. For each product that does not, the reason.
//
// A product qualifies where its B operand, and its A operand unless that comes from registers, is a
// descriptor load that nothing else uses (also through a transposition), of a descriptor that the
// host can describe (tensor_maps.h), in a shape and type that the instruction has. A load qualifies
// where the producer can work out by itself when and where to load: control flow and offsets made
// of scalars that come from parameters, program ids and loop variables; and where the kernel does
// not write before it to what it loads, since the producer does not wait for that.
//
// Loads of one product that stand beside it share the slots of one ring, which the product takes
// and frees. A load outside of its product's loop has a ring of its own: it is taken where the load
// stands, and freed in the last turn of a loop there that holds the product, else at the end of
// that region. Takes the optimized tile IR, changes nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/facts.h"
#include "ir/ir.h"
#include "layout/swizzle.h"
#include "lowering/tile_to_simt/producer_slice.h"
#include "lowering/tile_to_simt/tensor_maps.h"
#include "lowering/tile_to_simt/wgmma_layouts.h"

namespace enceladus::simt {

inline constexpr int64_t kPanelAlignment = 1024;  // bytes, of what a tensor map swizzles

// A load by the copy engine.
struct RingLoad {
  const ir::Operation* load = nullptr;
  TensorMapPlan map;
  layout::SwizzledTile tile;
  int ring = -1;
  int64_t offset = 0;  // in a slot
};

struct RingPlan {
  std::vector<int> loads;  // indices of HopperPlan::loads, in program order
  int64_t bytes = 0;       // of a slot
  bool taken_by_product = false;
  int64_t slots = 1;
  int64_t most_slots = 0;  // up to which it grows where there is room
  // The loop in whose last turn the slot is freed, as soon as the product there is done.
  const ir::Operation* freed_in = nullptr;
};

struct WgmmaOperand {
  int load = -1;  // -1: in registers
  bool along_depth = true;
};

struct WgmmaPlan {
  GroupTile group;
  std::string input;  // the type's name in the instruction; `a.b` where there are two
  WgmmaOperand a, b;
  // The loop that carries the sum, where the product may run on into its next turn: because it
  // alone touches the sum, or because another product, `waits_with`, is waited for there before
  // anything touches the sum.
  const ir::Operation* running_in = nullptr;
  const ir::Operation* waits_with = nullptr;
  // Where it starts in the next turn only, behind `waits_with`, so that this is done first: the
  // operation of the loop before which it is waited for.
  const ir::Operation* done_before = nullptr;
};

struct HopperPlan {
  int groups = 0;
  bool walks_grid = false;  // each program that runs walks many of the grid
  bool is_uneven = false;   // the programs along axis 0 load different amounts
  std::vector<RingLoad> loads;
  std::vector<RingPlan> rings;
  std::map<const ir::Operation*, WgmmaPlan> products;
  std::map<const ir::Operation*, int> load_of;           // by descriptor_load
  std::map<const ir::Operation*, TensorMapPlan> stores;  // descriptor_stores that may be copied out
  ProducerSlice slice;
  // By dot, descriptor_store or, where only an operand is, descriptor_load: why it is neither.
  std::map<const ir::Operation*, std::string> reasons;

  bool any() const { return !products.empty(); }
};

HopperPlan plan_hopper(const ir::Function& function, const analysis::Facts& facts);

}  // namespace enceladus::simt
