#include "runtime/common/strided.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace enceladus {
namespace {

std::vector<int64_t> strides(const Strided& array) {
  return {array.strides_span().begin(), array.strides_span().end()};
}

Strided make(std::vector<int64_t> shape, std::vector<int64_t> strides) {
  Strided array = contiguous(shape);
  std::copy(strides.begin(), strides.end(), array.strides);
  return array;
}

std::optional<std::vector<int64_t>> reshaped_strides(const Strided& array,
                                                     std::vector<int64_t> shape) {
  const auto result = reshaped(array, shape);
  if (!result) return std::nullopt;
  return strides(*result);
}

using Strides = std::vector<int64_t>;

TEST(Strided, contiguous_strides_are_in_c_order) {
  EXPECT_EQ(strides(contiguous(std::vector<int64_t>{2, 3, 4})), (Strides{12, 4, 1}));
  EXPECT_TRUE(is_contiguous(make({1, 3}, {99, 1})));  // an axis of one element has any stride
  EXPECT_FALSE(is_contiguous(make({2, 3}, {1, 2})));
}

TEST(Strided, refuses_shapes_that_cannot_be) {
  EXPECT_THROW(contiguous(std::vector<int64_t>{-1}), std::invalid_argument);
  EXPECT_THROW(contiguous(std::vector<int64_t>(17, 1)), std::invalid_argument);
  EXPECT_THROW(contiguous(std::vector<int64_t>{int64_t{1} << 40, int64_t{1} << 40}),
               std::invalid_argument);
  EXPECT_THROW(contiguous(std::vector<int64_t>{0, -1}), std::invalid_argument);
  EXPECT_THROW(contiguous(std::vector<int64_t>{0, int64_t{1} << 40, int64_t{1} << 40}),
               std::invalid_argument);
  EXPECT_EQ(element_count(contiguous(std::vector<int64_t>{int64_t{1} << 40, 0})), 0);
}

TEST(Strided, refuses_layouts_that_reach_further_than_memory) {
  constexpr int64_t kFar = int64_t{1} << 61;
  EXPECT_THROW(check_reach(make({kFar}, {1}), 4), std::invalid_argument);
  EXPECT_THROW(check_reach(make({5}, {kFar}), 1), std::invalid_argument);
  EXPECT_THROW(check_reach(make({2}, {4 * -kFar}), 1), std::invalid_argument);
  EXPECT_THROW(check_reach(make({2, 2, 2, 2}, {kFar, kFar, -kFar, -kFar}), 1),
               std::invalid_argument);
  EXPECT_NO_THROW(check_reach(make({kFar}, {1}), 2));
  EXPECT_NO_THROW(check_reach(make({1, 0}, {4 * -kFar, kFar}), 8));
}

TEST(Strided, offset_range_covers_negative_strides) {
  const OffsetRange range = offset_range(make({3, 4}, {-10, 2}));
  EXPECT_EQ(range.low, -20);
  EXPECT_EQ(range.high, 7);
  EXPECT_EQ(offset_range(make({3, 0}, {1, 1})).high, 0);
  EXPECT_EQ(offset_range(contiguous({})).high, 1);
}

TEST(Strided, reshape_splits_and_joins_evenly_spaced_axes) {
  EXPECT_EQ(reshaped_strides(make({4, 6}, {20, 2}), {2, 2, 3, 2}), (Strides{40, 20, 4, 2}));
  EXPECT_EQ(reshaped_strides(make({4, 3, 2}, {60, 4, 2}), {4, 6}), (Strides{60, 2}));
  EXPECT_EQ(reshaped_strides(make({3, 4}, {1, 3}), {12}), std::nullopt);
  EXPECT_EQ(reshaped_strides(make({4}, {-1}), {2, 2}), (Strides{-2, -1}));
  EXPECT_EQ(reshaped_strides(make({2, 1, 3}, {9, 5, 3}), {1, 6, 1}).value()[1], 3);
}

}  // namespace
}  // namespace enceladus
