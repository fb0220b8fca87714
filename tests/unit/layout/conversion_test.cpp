#include "layout/conversion.h"

#include <gtest/gtest.h>

#include <set>

#include "layout/random_layouts.h"

namespace enceladus::layout {
namespace {

// Classifies by looking at every position instead of at the matrices.
ConversionKind classify_by_enumeration(const LinearLayout& from, const LinearLayout& to) {
  bool same_warp = true, same_lane = true, same_register = true, lane_free = true;
  LinearLayout pull = to.pull_from(from);
  for (uint64_t x = 0; x < static_cast<uint64_t>(to.in().size()); ++x) {
    uint64_t y = pull.apply(x);
    auto differs = [&](Dim dim) {
      int64_t mask = (int64_t{1} << from.in().bits(dim)) - 1;
      return from.in().coordinate(y, dim) != (to.in().coordinate(x, dim) & mask);
    };
    uint64_t only_register = x & to.in().mask(Dim::kRegister);
    same_warp &= !differs(Dim::kWarp);
    same_lane &= !differs(Dim::kLane);
    same_register &=
        from.in().coordinate(y, Dim::kRegister) == to.in().coordinate(x, Dim::kRegister);
    lane_free &= from.in().coordinate(y, Dim::kRegister) ==
                 from.in().coordinate(pull.apply(only_register), Dim::kRegister);
  }
  if (!same_warp) return ConversionKind::kShared;
  if (!same_lane || !lane_free) return ConversionKind::kShuffle;
  bool same_count = from.in().bits(Dim::kRegister) == to.in().bits(Dim::kRegister);
  return same_register && same_count ? ConversionKind::kNone : ConversionKind::kRegisters;
}

TEST(Conversion, classification_agrees_with_enumeration) {
  RandomLayouts random(5);
  const Space tile{{axis_dim(1), 3}, {axis_dim(0), 3}};
  int seen[4] = {};
  for (int round = 0; round < 2000; ++round) {
    LinearLayout from = random.distributed(tile, 3, 2, 1), to = from;
    int change = random.number(0, 3);  // shuffle registers, lanes, or everything
    if (change == 3) to = random.distributed(tile, 3, 2, 1);
    std::vector<uint64_t> basis(to.basis().begin(), to.basis().end());
    if (change == 1) std::swap(basis[0], basis[1]);
    if (change == 2) std::swap(basis[0], basis[3]);
    to = LinearLayout(to.in(), to.out(), basis);
    Conversion conversion = classify(from, to);
    ASSERT_EQ(conversion.kind, classify_by_enumeration(from, to)) << "round " << round;
    ++seen[static_cast<int>(conversion.kind)];
  }
  for (int count : seen) EXPECT_GT(count, 50);
}

TEST(Conversion, a_target_with_copies_pulls_from_its_own_lane) {
  LinearLayout from = LinearLayout::identity(Dim::kRegister, axis_dim(0), 1) *
                      LinearLayout::identity(Dim::kLane, axis_dim(0), 5);
  LinearLayout to = from * LinearLayout::copies(Dim::kRegister, 1);
  EXPECT_EQ(classify(from, to).kind, ConversionKind::kRegisters);
}

TEST(Conversion, row_major_registers_are_contiguous_up_to_the_limit) {
  LinearLayout memory = LinearLayout::identity(Dim::kOffset, axis_dim(0), 10);
  LinearLayout distributed = LinearLayout::identity(Dim::kRegister, axis_dim(0), 3) *
                             LinearLayout::identity(Dim::kLane, axis_dim(0), 5) *
                             LinearLayout::identity(Dim::kWarp, axis_dim(0), 2);
  EXPECT_EQ(contiguous_register_bits(distributed, memory, 2), 2);
  EXPECT_EQ(contiguous_register_bits(distributed, memory, 4), 3);
  LinearLayout strided = LinearLayout::identity(Dim::kLane, axis_dim(0), 5) *
                         LinearLayout::identity(Dim::kRegister, axis_dim(0), 5);
  EXPECT_EQ(contiguous_register_bits(strided, memory, 2), 0);
}

// A row-major tile of 32 x 32 words written by rows and read by columns: the textbook transpose.
TEST(SharedLayout, transpose_has_no_bank_conflicts) {
  Space tile{{axis_dim(1), 5}, {axis_dim(0), 5}};
  auto of = [&](Dim columns, Dim rows) {
    LinearLayout layout = LinearLayout::identity(columns, axis_dim(1), 5) *
                          LinearLayout::identity(rows, axis_dim(0), 5);
    return layout;
  };
  LinearLayout writer = of(Dim::kLane, Dim::kRegister), reader = of(Dim::kRegister, Dim::kLane);
  SharedMemory shared{.element_bytes = 4};
  SharedLayout placement = choose_shared_layout(writer, reader, shared);
  EXPECT_EQ(bank_conflicts(writer, placement, shared), 1);
  EXPECT_EQ(bank_conflicts(reader, placement, shared), 1);
  // Without the swizzle all lanes of the reader meet in one bank.
  Dim order[] = {axis_dim(1), axis_dim(0)};
  LinearLayout plain(Space{{Dim::kOffset, 10}}, tile, [] {
    std::vector<uint64_t> basis;
    for (int bit = 0; bit < 10; ++bit) basis.push_back(uint64_t{1} << bit);
    return basis;
  }());
  EXPECT_EQ(bank_conflicts(reader.with_out_order(order), {plain, 0}, shared), 32);
}

TEST(SharedLayout, any_two_layouts_get_a_bijection_without_avoidable_conflicts) {
  RandomLayouts random(6);
  const Space tile{{axis_dim(1), 6}, {axis_dim(0), 5}};
  int free_of_conflicts = 0;
  for (int round = 0; round < 100; ++round) {
    LinearLayout writer = random.distributed(tile, 5, 5, 1),
                 reader = random.distributed(tile, 4, 5, 2);
    for (int bytes : {1, 2, 4, 8}) {
      SharedMemory shared{.element_bytes = bytes};
      SharedLayout placement = choose_shared_layout(writer, reader, shared);
      ASSERT_EQ(placement.memory.rank(), 11) << "round " << round;
      EXPECT_EQ(bank_conflicts(writer, placement, shared), 1) << "round " << round << " " << bytes;
      EXPECT_EQ(bank_conflicts(reader, placement, shared), 1) << "round " << round << " " << bytes;
      ++free_of_conflicts;
    }
  }
  EXPECT_EQ(free_of_conflicts, 400);
}

}  // namespace
}  // namespace enceladus::layout
