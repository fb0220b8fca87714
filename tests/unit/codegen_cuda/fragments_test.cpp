// The fragments of mma.sync as the PTX manual draws them, and matrix loads that fill them: a warp's
// ldmatrix is played through on memory that holds each element's own number.
#include "lowering/tile_to_simt/fragments.h"

#include <gtest/gtest.h>

#include <map>

#include "codegen/cuda/target.h"
#include "ir/builder.h"
#include "layout/conversion.h"
#include "lowering/tile_to_simt/matrix_loads.h"

namespace enceladus::cuda {
namespace {

using simt::Dim;
using simt::LinearLayout;
using simt::Shape;

// A dot of m x k by k x n in a function of its own.
struct Dot {
  ir::Function function{"f", {}};
  const ir::Operation* op;
  Dot(DType operand, DType accumulator, int64_t m, int64_t n, int64_t k) {
    ir::Builder builder(function);
    auto tile = [&](DType dtype, std::initializer_list<int64_t> shape) {
      return builder.constant_bits(ir::Type::number(dtype, std::span(shape.begin(), shape.size())),
                                   0);
    };
    ir::Value* acc = tile(accumulator, {m, n});
    op = builder
             .create_typed(ir::Opcode::kDot, {tile(operand, {m, k}), tile(operand, {k, n}), acc},
                           acc->type())
             ->definition();
  }
};

struct Place {
  int64_t row, column;
  bool operator==(const Place&) const = default;
};

Place element(const LinearLayout& layout, int64_t lane, int64_t reg) {
  uint64_t tile = layout.apply(layout.in().pack(
      std::vector<std::pair<Dim, int64_t>>{{Dim::kRegister, reg}, {Dim::kLane, lane}}));
  return {layout.out().coordinate(tile, Dim::kAxis0),
          layout.out().coordinate(tile, layout::axis_dim(1))};
}

struct Manual {
  DType operand, accumulator;
  std::string_view name;
  int64_t m, n, k;
  Place (*a)(int64_t lane, int64_t i);
  Place (*b)(int64_t lane, int64_t i);
  Place (*c)(int64_t lane, int64_t i);
};

Place sums_of_16x8(int64_t lane, int64_t i) {
  return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

// "Matrix fragments for mma.m16n8k8 (.tf32), m16n8k16, m16n8k32 (.u8, .s8) and m8n8k4 (.f64)".
const Manual kManual[] = {
    {DType::kFloat16, DType::kFloat32, "m16n8k16", 16, 8, 16,
     [](int64_t lane, int64_t i) {
       return Place{lane / 4 + (i % 4 < 2 ? 0 : 8), lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8)};
     },
     [](int64_t lane, int64_t i) {
       return Place{lane % 4 * 2 + (i & 1) + (i < 2 ? 0 : 8), lane / 4};
     },
     sums_of_16x8},
    {DType::kInt8, DType::kInt32, "m16n8k32", 16, 8, 32,
     [](int64_t lane, int64_t i) {
       return Place{lane / 4 + (i / 4 % 2 == 0 ? 0 : 8), lane % 4 * 4 + i % 4 + (i < 8 ? 0 : 16)};
     },
     [](int64_t lane, int64_t i) {
       return Place{lane % 4 * 4 + i % 4 + (i < 4 ? 0 : 16), lane / 4};
     },
     sums_of_16x8},
    {DType::kFloat64, DType::kFloat64, "m8n8k4", 8, 8, 4,
     [](int64_t lane, int64_t) { return Place{lane / 4, lane % 4}; },
     [](int64_t lane, int64_t) { return Place{lane % 4, lane / 4}; },
     [](int64_t lane, int64_t i) { return Place{lane / 4, lane % 4 * 2 + i}; }},
};

TEST(FragmentsTest, are_as_the_manual_draws_them) {
  for (const Manual& manual : kManual) {
    Dot dot(manual.operand, manual.accumulator, manual.m, manual.n, manual.k);
    std::optional<simt::MatrixUse> use = simt_target().matrix_use(*dot.op);
    ASSERT_TRUE(use.has_value()) << manual.name;
    EXPECT_EQ(use->instruction->name, manual.name);
    simt::FragmentLayouts layouts = simt::fragment_layouts(*dot.op, *use->instruction, 0);
    auto check = [&](const LinearLayout& layout, Place (*expected)(int64_t, int64_t)) {
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t i = 0; i < simt::register_count(layout); ++i)
          EXPECT_EQ(element(layout, lane, i), expected(lane, i))
              << manual.name << " lane " << lane << " element " << i;
    };
    check(layouts.a, manual.a);
    check(layouts.b, manual.b);
    check(layouts.accumulator, manual.c);
  }
}

// What each lane gets from ldmatrix on a shared memory that holds element numbers of `bytes` bytes.
std::vector<std::vector<uint64_t>> played(const simt::MatrixLoads& loads,
                                          const LinearLayout& memory, int bytes) {
  LinearLayout offsets = loads.rows.then(memory.inverse());
  int64_t in_word = 4 / bytes;
  std::vector<std::vector<uint64_t>> got(32);
  for (int64_t load = 0; load < simt::register_count(loads.rows); ++load) {
    auto row = [&](int64_t pointer) {
      return offsets.apply(offsets.in().pack(
          std::vector<std::pair<Dim, int64_t>>{{Dim::kRegister, load}, {Dim::kLane, pointer}}));
    };
    for (int64_t matrix = 0; matrix < loads.matrices; ++matrix)
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t i = 0; i < in_word; ++i) {
          int64_t r = loads.transposed ? lane % 4 * 2 + i : lane / 4;
          int64_t c = loads.transposed ? lane / 4 : lane % 4 * in_word + i;
          got[static_cast<size_t>(lane)].push_back(
              memory.apply(row(8 * matrix + r) + static_cast<uint64_t>(c)));
        }
  }
  return got;
}

TEST(FragmentsTest, matrix_loads_fill_operands) {
  struct Example {
    DType operand, accumulator;
    int axis_of_a, axis_of_b;  // along which rows lie in memory
  };
  for (const Example& example : {Example{DType::kFloat16, DType::kFloat32, 1, 1},
                                 Example{DType::kFloat16, DType::kFloat32, 0, 0},
                                 Example{DType::kInt8, DType::kInt32, 1, 0}}) {
    Dot dot(example.operand, example.accumulator, 64, 32, 64);
    std::optional<simt::MatrixUse> use = simt_target().matrix_use(*dot.op);
    ASSERT_TRUE(use.has_value());
    simt::FragmentLayouts layouts = simt::fragment_layouts(*dot.op, *use->instruction, 0);
    int bytes = byte_size(example.operand);
    auto check = [&](const LinearLayout& layout, int axis) {
      std::optional<simt::MatrixLoads> loads = simt::matrix_loads(layout, axis, bytes);
      ASSERT_TRUE(loads.has_value());
      LinearLayout memory = simt::swizzled_memory(simt::shape_of(layout), axis, bytes);
      ASSERT_TRUE(memory.is_injective());
      std::vector<std::vector<uint64_t>> got = played(*loads, memory, bytes);
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t i = 0; i < simt::register_count(layout); ++i) {
          uint64_t expected = layout.apply(layout.in().pack(
              std::vector<std::pair<Dim, int64_t>>{{Dim::kRegister, i}, {Dim::kLane, lane}}));
          EXPECT_EQ(got[static_cast<size_t>(lane)][static_cast<size_t>(i)], expected);
        }
    };
    check(layouts.a, example.axis_of_a);
    check(layouts.b, example.axis_of_b);
  }
}

// Eight rows of a matrix, and eight neighbouring pieces of a row, lie in different banks.
TEST(FragmentsTest, swizzled_memory_has_no_bank_conflicts) {
  for (int64_t columns : {16, 32, 64, 128}) {
    Shape shape{64, columns};
    LinearLayout memory = simt::swizzled_memory(shape, 1, 2);
    std::vector<simt::TileBit> piece{{1, 0}, {1, 1}, {1, 2}};
    std::vector<simt::TileBit> rows{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}};
    LinearLayout reads = simt::make_layout(shape, piece, rows, {});
    EXPECT_EQ(layout::bank_conflicts(reads, {memory, 3}, {.element_bytes = 2}), 1) << columns;
  }
}

}  // namespace
}  // namespace enceladus::cuda
