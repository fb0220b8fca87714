// Shapes and strides of arrays in memory: the arithmetic behind tensor views. Strides count
// elements and may be zero or negative. Knows neither memory nor element types.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace enceladus {

inline constexpr int kMaximumRank = 16;

struct Strided {
  int rank = 0;
  int64_t shape[kMaximumRank] = {};
  int64_t strides[kMaximumRank] = {};

  std::span<const int64_t> shape_span() const { return {shape, static_cast<size_t>(rank)}; }
  std::span<const int64_t> strides_span() const { return {strides, static_cast<size_t>(rank)}; }
};

// Elements of the array, 0 when any extent is.
int64_t element_count(const Strided& array);
// A C-contiguous array. Throws std::invalid_argument for a negative extent, for more than
// kMaximumRank axes and for more than 2^63-1 elements.
Strided contiguous(std::span<const int64_t> shape);
bool is_contiguous(const Strided& array);
bool has_negative_stride(const Strided& array);

// Offsets, in elements from the first one, of the lowest element and of the place behind the
// highest. Both are 0 for an empty array.
struct OffsetRange {
  int64_t low = 0;
  int64_t high = 0;
};
OffsetRange offset_range(const Strided& array);
// Throws std::invalid_argument where elements of so many bytes span 2^63 bytes or more, for
// layouts that others wrote.
void check_reach(const Strided& array, int64_t element_bytes);

// The same elements in C order under another shape of equally many, without a copy; nullopt where
// that is impossible. At most one extent may be -1 and is then computed: see `complete_shape`.
std::optional<Strided> reshaped(const Strided& array, std::span<const int64_t> shape);

// `shape` with a -1 replaced so that it holds `count` elements. Throws std::invalid_argument when
// there are two, or when no extent fits.
Strided complete_shape(std::span<const int64_t> shape, int64_t count);

// One axis restricted to start, start+step, ...: `length` of them. Returns the offset of the new
// first element.
int64_t restrict_axis(Strided& array, int axis, int64_t start, int64_t step, int64_t length);
void drop_axis(Strided& array, int axis);
void insert_axis(Strided& array, int axis);  // of extent 1
Strided reversed_axes(const Strided& array);

// As Python writes it: "(2, 3)", "(4,)", "()".
std::string shape_text(std::span<const int64_t> shape);

}  // namespace enceladus
