// Linear layouts: where the elements of a tile live, as linear maps over GF(2).
//
// Every extent of a tile, every count of registers, lanes and warps is a power of two, so a
// position is a string of bits, and all layouts that matter (blocked, strided, broadcast, matrix
// fragments, swizzled memory) send each *bit* of the position to a fixed set of bits of the tile
// coordinates, combined by exclusive or. Such a map is a matrix over GF(2), determined by the image
// of each single input bit, its basis. Example: 8 elements over 4 lanes with 2 neighbouring
// registers each,
//
//     register bit 0 -> 1      lane bit 0 -> 2      lane bit 1 -> 4
//
// puts element `register ^ (lane bits shifted by one)` where it belongs. An input bit whose image
// is 0 is *free*: positions that differ in it hold copies of one element (a broadcast). Two input
// bits with images 1 and 3 swizzle. Everything the compiler asks (who owns an element, does a
// conversion cross lanes, how wide can an access be, do two threads hit one memory bank) is a
// question of rank, inverse or composition of these small matrices.
// The idea is that of "Linear Layouts", arXiv 2505.23819; the code is our own.
//
// A LinearLayout maps a space of named input dimensions to a space of named output dimensions,
// each a power of two in size. It need be neither injective (copies) nor surjective (a part of a
// tile). Not here: which layout an operation should have (lowering), nor anything of a target.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace enceladus::layout {

// Names of dimensions. kOffset counts elements of a memory; kAxis0 + i is axis i of a tile.
enum class Dim : uint8_t { kRegister, kLane, kWarp, kOffset, kAxis0 };
constexpr Dim axis_dim(int axis) { return static_cast<Dim>(static_cast<int>(Dim::kAxis0) + axis); }
std::string to_string(Dim dim);

// One side of a map: dimensions with the numbers of their bits. As one number, the first dimension
// takes the lowest bits.
class Space {
 public:
  struct Part {
    Dim dim;
    int bits;
    bool operator==(const Part&) const = default;
  };
  Space() = default;
  Space(std::initializer_list<Part> parts) : parts_(parts) {}
  explicit Space(std::vector<Part> parts) : parts_(std::move(parts)) {}
  // The axes of a tile, the last one lowest (row-major).
  static Space tile(std::span<const int64_t> shape);

  std::span<const Part> parts() const { return parts_; }
  int bits() const;
  int bits(Dim dim) const;    // 0 where it is absent
  int offset(Dim dim) const;  // of its lowest bit; ENC_CHECKs that it is there
  bool has(Dim dim) const;
  int64_t size() const { return int64_t{1} << bits(); }
  uint64_t mask(Dim dim) const;  // its bits within the whole number

  uint64_t pack(std::span<const std::pair<Dim, int64_t>> coordinates) const;
  int64_t coordinate(uint64_t packed, Dim dim) const;
  bool operator==(const Space&) const = default;

 private:
  std::vector<Part> parts_;
};

class LinearLayout {
 public:
  LinearLayout() = default;
  // basis[i] is the image, packed by `out`, of bit i of the packed input.
  LinearLayout(Space in, Space out, std::vector<uint64_t> basis);

  // `in` bit i goes to `out` bit i; both have `bits` bits.
  static LinearLayout identity(Dim in, Dim out, int bits);
  // `bits` free bits of `in`: copies of whatever the other factors of a product describe.
  static LinearLayout copies(Dim in, int bits);

  const Space& in() const { return in_; }
  const Space& out() const { return out_; }
  std::span<const uint64_t> basis() const { return basis_; }
  uint64_t basis_of(Dim dim, int bit) const;

  uint64_t apply(uint64_t packed_input) const;

  // The product: this layout describes the low bits of every dimension, `outer` the bits above
  // them, as when a small layout is tiled by a large one. Dimensions are joined by name.
  LinearLayout operator*(const LinearLayout& outer) const;

  // The factor `outer` with (*this) == inner * outer, or `inner` with (*this) == inner * outer;
  // none where the layout is no such product.
  std::optional<LinearLayout> divide_inner(const LinearLayout& inner) const;
  std::optional<LinearLayout> divide_outer(const LinearLayout& outer) const;

  // First this map, then `next`; next.in() has the dimensions of out() (in any order).
  LinearLayout then(const LinearLayout& next) const;

  int rank() const;
  bool is_injective() const { return rank() == in_.bits(); }
  bool is_surjective() const { return rank() == out_.bits(); }

  // A right inverse: then(out -> in, out) is the identity. Free input bits are chosen 0, so copies
  // resolve to their first owner. ENC_CHECKs that the layout is surjective.
  LinearLayout inverse() const;

  // For each element of this layout's input, a position of `source` that holds the same element:
  // source.apply(result.apply(x)) == apply(x). Prefers positions with the same lane and warp where
  // one exists for the whole map, so that data that is already in place stays there.
  LinearLayout pull_from(const LinearLayout& source) const;

  // Input bits that do not change which element is held once the bits before them (in the order
  // register, lane, warp, ...) are fixed: a thread owns an element if those bits are all 0. As a
  // mask over the packed input.
  uint64_t free_bits() const;
  int64_t free_bits(Dim dim) const;  // the same within one dimension

  // Only these input or output dimensions; the others are fixed at 0 or dropped.
  LinearLayout restrict_in(std::span<const Dim> dims) const;
  LinearLayout restrict_out(std::span<const Dim> dims) const;
  // The same map with the dimensions in this order.
  LinearLayout with_out_order(std::span<const Dim> dims) const;
  LinearLayout with_in_order(std::span<const Dim> dims) const;
  // The same packed numbers under another naming of the output bits (a reshape of a tile).
  LinearLayout with_out_space(Space out) const;
  LinearLayout renamed_out(std::span<const std::pair<Dim, Dim>> names) const;

  bool operator==(const LinearLayout&) const = default;

 private:
  Space in_;
  Space out_;
  std::vector<uint64_t> basis_;
};

// A line a dimension: `lane: 2, 4` lists the images of its bits as coordinates.
std::string to_string(const LinearLayout& layout);

}  // namespace enceladus::layout
