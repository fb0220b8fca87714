#include "runtime/common/strided.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace enceladus {
namespace {

void check_rank(size_t rank) {
  if (rank > kMaximumRank)
    throw std::invalid_argument("a tensor has at most " + std::to_string(kMaximumRank) +
                                " axes, got " + std::to_string(rank));
}

// Axes without elements are no way around the limit: strides are products of the others.
int64_t checked_product(std::span<const int64_t> shape) {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t extent : shape) {
    if (extent < 0) throw std::invalid_argument("negative extent in shape " + shape_text(shape));
    overflow |= __builtin_mul_overflow(count, std::max<int64_t>(extent, 1), &count);
  }
  if (overflow) throw std::invalid_argument("shape " + shape_text(shape) + " is too large");
  return std::ranges::count(shape, 0) > 0 ? 0 : count;
}

}  // namespace

int64_t element_count(const Strided& array) {
  int64_t count = 1;
  for (int64_t extent : array.shape_span()) count *= extent;
  return count;
}

Strided contiguous(std::span<const int64_t> shape) {
  check_rank(shape.size());
  checked_product(shape);
  Strided array;
  array.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), array.shape);
  int64_t stride = 1;
  for (int axis = array.rank - 1; axis >= 0; --axis) {
    array.strides[axis] = stride;
    stride *= std::max<int64_t>(shape[axis], 1);
  }
  return array;
}

bool is_contiguous(const Strided& array) {
  int64_t expected = 1;
  for (int axis = array.rank - 1; axis >= 0; --axis) {
    if (array.shape[axis] == 0) return true;
    if (array.shape[axis] != 1 && array.strides[axis] != expected) return false;
    expected *= array.shape[axis];
  }
  return true;
}

bool has_negative_stride(const Strided& array) {
  for (int axis = 0; axis < array.rank; ++axis)
    if (array.strides[axis] < 0 && array.shape[axis] > 1) return true;
  return false;
}

OffsetRange offset_range(const Strided& array) {
  OffsetRange range{0, 1};
  for (int axis = 0; axis < array.rank; ++axis) {
    if (array.shape[axis] == 0) return {};
    const int64_t reach = (array.shape[axis] - 1) * array.strides[axis];
    (reach < 0 ? range.low : range.high) += reach;
  }
  return range;
}

void check_reach(const Strided& array, int64_t element_bytes) {
  if (element_count(array) == 0) return;
  int64_t farthest = -element_bytes;  // negative, as every int64_t has a negative amount
  bool overflow = false;
  for (int axis = 0; axis < array.rank; ++axis) {
    int64_t reach = 0;
    overflow |= __builtin_mul_overflow(array.shape[axis] - 1, array.strides[axis], &reach);
    overflow |= __builtin_mul_overflow(reach, element_bytes, &reach);
    overflow |= __builtin_add_overflow(farthest, reach < 0 ? reach : -reach, &farthest);
  }
  if (overflow || farthest == std::numeric_limits<int64_t>::min())
    throw std::invalid_argument("elements at the strides " + shape_text(array.strides_span()) +
                                " reach further than memory does");
}

Strided complete_shape(std::span<const int64_t> shape, int64_t count) {
  check_rank(shape.size());
  Strided result;
  result.rank = static_cast<int>(shape.size());
  int unknown = -1;
  for (int axis = 0; axis < result.rank; ++axis) {
    result.shape[axis] = shape[axis];
    if (shape[axis] != -1) continue;
    if (unknown >= 0) throw std::invalid_argument("only one extent of a shape can be -1");
    unknown = axis;
    result.shape[axis] = 1;
  }
  const int64_t known = checked_product(result.shape_span());
  const bool fits = unknown >= 0 ? known > 0 && count % known == 0 : known == count;
  if (!fits)
    throw std::invalid_argument("a tensor of " + std::to_string(count) +
                                " elements cannot have the shape " + shape_text(shape));
  if (unknown >= 0) result.shape[unknown] = count / known;
  return contiguous(result.shape_span());
}

std::optional<Strided> reshaped(const Strided& array, std::span<const int64_t> shape) {
  Strided result = complete_shape(shape, element_count(array));
  if (element_count(array) == 0 || is_contiguous(array)) return result;
  // Split both shapes into groups of equally many elements; inside a group the old axes must be
  // one evenly spaced run.
  int old_axis = 0, new_axis = 0;
  while (new_axis < result.rank || old_axis < array.rank) {
    const int old_first = old_axis, new_first = new_axis;
    int64_t old_count = old_axis < array.rank ? array.shape[old_axis++] : 1;
    int64_t new_count = new_axis < result.rank ? result.shape[new_axis++] : 1;
    while (old_count != new_count) {
      if (old_count < new_count)
        old_count *= array.shape[old_axis++];
      else
        new_count *= result.shape[new_axis++];
    }
    int64_t stride = 0, expected = 0;
    bool first = true;
    for (int axis = old_axis - 1; axis >= old_first; --axis) {
      if (array.shape[axis] == 1) continue;
      if (first) stride = array.strides[axis];
      if (!first && array.strides[axis] != expected) return std::nullopt;
      expected = array.strides[axis] * array.shape[axis];
      first = false;
    }
    for (int axis = new_axis - 1; axis >= new_first; --axis) {
      result.strides[axis] = stride;
      stride *= result.shape[axis];
    }
  }
  return result;
}

int64_t restrict_axis(Strided& array, int axis, int64_t start, int64_t step, int64_t length) {
  const int64_t offset = length > 0 ? start * array.strides[axis] : 0;
  array.shape[axis] = length;
  array.strides[axis] *= step;
  return offset;
}

void drop_axis(Strided& array, int axis) {
  for (int next = axis + 1; next < array.rank; ++next) {
    array.shape[next - 1] = array.shape[next];
    array.strides[next - 1] = array.strides[next];
  }
  --array.rank;
}

void insert_axis(Strided& array, int axis) {
  check_rank(static_cast<size_t>(array.rank) + 1);
  for (int next = array.rank; next > axis; --next) {
    array.shape[next] = array.shape[next - 1];
    array.strides[next] = array.strides[next - 1];
  }
  array.shape[axis] = 1;
  array.strides[axis] = 0;
  ++array.rank;
}

Strided reversed_axes(const Strided& array) {
  Strided result = array;
  std::reverse(result.shape, result.shape + result.rank);
  std::reverse(result.strides, result.strides + result.rank);
  return result;
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "(";
  for (size_t axis = 0; axis < shape.size(); ++axis)
    text += (axis ? ", " : "") + std::to_string(shape[axis]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace enceladus
