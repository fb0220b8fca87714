// The loop IR: what the CPU target runs, as a plan beside the tile IR that it is made from.
//
// A program is a list of items, region by region. An item is a scalar operation, a control
// operation (its regions have lists of their own), a matrix product, a whole loop of products
// turned inside out (dot_loop.h), or a *group*: one loop nest over the elements of a tile shape
// (its space). A group has *roots*: the operations that must happen (stores, atomics, reductions,
// scans, prints) and the tiles that must be written to scratch. Everything else is pure and has no
// place of its own: a root's operands are computed where they are needed, element by element, back
// to scalars, loads and tiles in scratch.
//
// At each element a group makes all its reads before all its writes, and nothing may depend on
// another element's write of the same group, so the elements may be visited in any order (along
// `inner_axis`, in order, when a reduction or a scan needs it).
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "ir/ir.h"
#include "lowering/tile_to_loop/dot_loop.h"

namespace enceladus::loop {

// A tile in scratch memory: row-major, elements as in an array (int1 a byte, pointers 8 bytes).
struct Buffer {
  ir::Type type;                      // of the tile
  std::vector<int64_t> strides = {};  // in elements
  int64_t bytes = 0;
  int64_t offset = 0;       // from the start of the kernel's own scratch, 64-byte aligned
  int first = 0, last = 0;  // the numbers of the items between which it is alive
  bool is_used = false;
};

enum class RootKind : uint8_t { kEffect, kReduce, kScan, kWrite };

struct Root {
  RootKind kind;
  ir::Operation* op = nullptr;  // kEffect, kReduce, kScan
  ir::Value* value = nullptr;   // kWrite: the tile
  int buffer = -1;              // kWrite: where to
  bool is_definition = false;   // kWrite: computes the tile; else copies it from its own buffer
  int part = 0;                 // kEffect of device_print: which of its values
};

struct Group {
  std::vector<int64_t> space;
  int inner_axis = -1;      // the axis that must be innermost; -1: any
  bool is_ordered = false;  // elements along inner_axis one after the other (a scan)
  bool is_reverse = false;  // ... the last one first
  int element_bytes = 1;    // of the widest element that it computes with, in a register
  int cost = 0;             // of one vector of elements, in simple instructions
  std::vector<Root> roots;
};

enum class ItemKind : uint8_t { kScalar, kControl, kDot, kDotLoop, kGroup };

struct Item {
  ItemKind kind;
  int number = 0;               // in program order over all regions
  ir::Operation* op = nullptr;  // not for kGroup
  int group = -1;               // an index into Plan::groups
  int dot_loop = -1;            // an index into Plan::dot_loops
};

// A loop around a `dot` that is no DotLoop, and why.
struct RefusedLoop {
  const ir::Operation* loop;
  std::string reason;
};

struct Plan {
  std::unordered_map<const ir::Region*, std::vector<Item>> items;
  std::vector<Group> groups;
  std::vector<DotLoop> dot_loops;
  std::vector<RefusedLoop> refused_loops;  // for explanations
  std::vector<Buffer> buffers;
  std::vector<int> buffer_of;  // by Value::id(); -1 for a tile that is not in scratch
  int64_t scratch_bytes = 0;

  int buffer(const ir::Value* value) const { return buffer_of[value->id()]; }
};

// The tile that a product reads: its operand, or what the operand is the transpose of. A product
// takes either order, so a transpose that it alone uses is never written out.
struct DotTile {
  const ir::Value* tile;
  bool is_transposed;
};
DotTile dot_tile(const ir::Value* operand);

// Sets the strides and bytes of the buffer of a `dot`'s result as its micro-kernel wants them.
using DotTileLayout = std::function<void(const ir::Operation* dot, Buffer& buffer)>;

Plan make_plan(const ir::Function& function, const DotTileLayout& dot_layout);

}  // namespace enceladus::loop
