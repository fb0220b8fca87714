// Swizzled tiles against the hardware's own words: chunk c of row r lies where c xor r mod 8 would.
#include "layout/swizzle.h"

#include <gtest/gtest.h>

namespace enceladus::layout {
namespace {

TEST(Swizzle, rows_of_128_bytes_exchange_chunks_by_the_row_in_panels_behind_one_another) {
  std::optional<SwizzledTile> tile = swizzled_tile(64, 256, 2);
  ASSERT_TRUE(tile.has_value());
  EXPECT_EQ(tile->panels(), 4);
  LinearLayout memory = memory_layout(*tile);
  ASSERT_TRUE(memory.is_injective() && memory.is_surjective());
  for (uint64_t element = 0; element < 64 * 256; ++element) {
    uint64_t panel = element / 4096, row = element / 64 % 64, place = element % 64;
    uint64_t column = panel * 64 + ((place / 8) ^ (row % 8)) * 8 + place % 8;
    uint64_t packed = memory.apply(element);
    EXPECT_EQ(memory.out().coordinate(packed, axis_dim(0)), static_cast<int64_t>(row));
    EXPECT_EQ(memory.out().coordinate(packed, axis_dim(1)), static_cast<int64_t>(column));
  }
}

TEST(Swizzle, shorter_rows_exchange_chunks_every_second_or_fourth_row) {
  for (int64_t row_bytes : {64, 32}) {
    std::optional<SwizzledTile> tile = swizzled_tile(16, row_bytes, 1);
    ASSERT_TRUE(tile.has_value());
    LinearLayout memory = memory_layout(*tile);
    for (int64_t byte = 0; byte < tile->bytes(); ++byte) {
      int64_t chunks = row_bytes / 16, row = byte / row_bytes, place = byte % row_bytes;
      int64_t chunk = (place / 16) ^ (byte / 128 % chunks);
      uint64_t packed = memory.apply(static_cast<uint64_t>(byte));
      EXPECT_EQ(memory.out().coordinate(packed, axis_dim(0)), row);
      EXPECT_EQ(memory.out().coordinate(packed, axis_dim(1)), chunk * 16 + place % 16);
    }
  }
}

TEST(Swizzle, tiles_that_no_box_describes_have_no_form) {
  EXPECT_FALSE(swizzled_tile(64, 8, 2).has_value());
  EXPECT_FALSE(swizzled_tile(512, 64, 2).has_value());
  EXPECT_FALSE(swizzled_tile(4, 64, 2).has_value());
  EXPECT_TRUE(swizzled_tile(256, 16, 2).has_value());
}

}  // namespace
}  // namespace enceladus::layout
