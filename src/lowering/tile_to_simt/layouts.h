// The distributed layouts that lowering uses: which thread's which register holds an element.
//
// A layout here maps (register, lane, warp) to a tile whose space is Space::tile(shape), with 5
// lane bits and log2(num_warps) warp bits. Each position bit goes to one bit of the tile or to
// none, and no two to the same one; a lane or warp bit that goes to none is *free*: threads that
// differ in it hold copies, and the one with 0 there owns the element. Register bits are never
// free: a thread keeps an element once. A layout that results from dropping an axis is brought to
// that form by `without_free_registers`, whose map tells where each former register's element is
// now. Not here: which operation has which layout (assignment.h).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "layout/linear_layout.h"

namespace enceladus::simt {

using layout::Dim;
using layout::LinearLayout;
using Shape = std::vector<int64_t>;

inline constexpr int kLaneBits = 5;
inline constexpr int kLanes = 1 << kLaneBits;

// One bit of a tile, or none: an axis and a bit of its index.
struct TileBit {
  int axis = -1;
  int bit = 0;
  bool none() const { return axis < 0; }
};

int log2_of(int64_t power_of_two);
int register_bits(const LinearLayout& layout);
int register_count(const LinearLayout& layout);
int warp_bits(const LinearLayout& layout);

// Whether a position bit selects along the axis.
inline bool is_on(const TileBit& bit, int axis) { return !bit.none() && bit.axis == axis; }

LinearLayout make_layout(std::span<const int64_t> shape, std::span<const TileBit> registers,
                         std::span<const TileBit> lanes, std::span<const TileBit> warps);
// What a position bit maps to.
TileBit image(const LinearLayout& layout, Dim dim, int bit);
std::vector<TileBit> images(const LinearLayout& layout, Dim dim);
Shape shape_of(const LinearLayout& layout);

// Axes from the fastest in memory. The lowest `vector_bits` of the first axis lie in registers, the
// next bits in lanes, the top ones in warps (each warp has a contiguous part), the rest between
// them in registers.
LinearLayout blocked_layout(std::span<const int64_t> shape, std::span<const int> order,
                            int vector_bits, int warp_bits);
// The same with the last axis fastest.
LinearLayout default_layout(std::span<const int64_t> shape, int warp_bits);

// Layouts of an operand from that of a result, where the operation moves no element.
LinearLayout drop_axis(const LinearLayout& layout, int axis);
LinearLayout insert_axis(const LinearLayout& layout, int axis);
LinearLayout narrow_axes(const LinearLayout& layout, std::span<const int64_t> operand_shape);
LinearLayout reshape(const LinearLayout& layout, std::span<const int64_t> shape);
// Result axis i is axis permutation[i] of `layout`.
LinearLayout permute(const LinearLayout& layout, std::span<const int64_t> permutation);
std::vector<int64_t> inverse_permutation(std::span<const int64_t> permutation);

struct CompactLayout {
  LinearLayout layout;
  std::vector<int64_t> map;  // register of the former layout -> register of this one
};
CompactLayout without_free_registers(const LinearLayout& layout);

// How each bit of a position adds to the coordinate along an axis.
struct Bases {
  std::vector<int64_t> registers, lanes, warps;
};
Bases coordinate_bases(const LinearLayout& layout, int axis);

// The numbers of bits of the tile's row-major position (`memory`: offset -> tile) instead.
Bases offset_bases(const LinearLayout& layout, const LinearLayout& memory);

// The masks of free lane and warp bits.
int64_t free_lanes(const LinearLayout& layout);
int64_t free_warps(const LinearLayout& layout);

}  // namespace enceladus::simt
