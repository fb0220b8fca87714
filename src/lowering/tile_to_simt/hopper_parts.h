// Pieces of SIMT IR that the producer, the consumers and the start of a kernel with rings share.
#pragma once

#include <array>
#include <span>

#include "ir/builder.h"
#include "lowering/tile_to_simt/hopper_plan.h"

namespace enceladus::simt {

// A `tensor_map` of the array at `base` with boxes like one panel of `tile`.
ir::Value* make_tensor_map(ir::Builder& builder, const TensorMapPlan& plan, ir::Value* base,
                           const layout::SwizzledTile& tile);

// A coordinate as the engine takes it: the scalar as an int32, the nearest one where it is none.
// Arrays are shorter than that, so that what lies outside stays outside.
ir::Value* coordinate(ir::Builder& builder, ir::Value* scalar);

// How a program that runs walks programs of the grid: their ids, and the region for what each does.
// The insertion point is in that region; close_grid_walk behind it.
struct GridWalk {
  ir::Operation* loop = nullptr;
  ir::Operation* branch = nullptr;  // in the loop, where some turns have no program
  std::array<ir::Value*, 3> program{};
  ir::Region* body() const;
};
// `is_uneven`: programs take the longer, the greater their id along axis 0.
GridWalk open_grid_walk(ir::Builder& builder, bool is_uneven);
void close_grid_walk(ir::Builder& builder, const GridWalk& walk);

// What producer and consumers find made: by index of the plan's loads and rings.
struct HopperValues {
  std::vector<ir::Value*> maps, rings;
};

// The producer's part at the builder's place: a copy of the control flow of `tile` around its loads
// and these. `scalars` are the SIMT values of the function's parameters by value id.
void write_producer(ir::Builder& builder, const ir::Function& tile, const HopperPlan& plan,
                    const HopperValues& values, std::vector<ir::Value*> scalars);

}  // namespace enceladus::simt
