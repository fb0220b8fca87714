#include "codegen/cpu/compile_cpu.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernel_runner.h"

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using ir::Type;
using ir::Value;

class CompileCpuTest : public testing::Test {
 protected:
  Value* parameter(const char* name, const Type& type) {
    return function_.append_parameter({.name = name, .type = type});
  }
  Value* i32(int64_t value) { return builder_.integer(Type::number(DType::kInt32), value); }
  Value* tile_of(Value* scalar, std::vector<int64_t> shape) {
    return builder_.broadcast_to(scalar, shape);
  }
  Value* arange(int64_t extent) {
    return builder_.create_typed(Opcode::kArange, {},
                                 Type::number(DType::kInt32, std::vector<int64_t>{extent}),
                                 {{ir::AttributeName::kStart, int64_t{0}}});
  }
  Value* program_id() {
    return builder_.create_typed(Opcode::kProgramId, {}, Type::number(DType::kInt32),
                                 {{ir::AttributeName::kAxis, int64_t{0}}});
  }
  Value* pointers(Value* base, Value* offsets) {
    std::vector<int64_t> shape(offsets->type().shape().begin(), offsets->type().shape().end());
    return builder_.create(Opcode::kAddPtr, {tile_of(base, shape), offsets});
  }
  Value* reduce(Value* tile, ir::CombineKind kind, int64_t axis) {
    std::vector<int64_t> shape(tile->type().shape().begin(), tile->type().shape().end());
    shape.erase(shape.begin() + axis);
    return builder_.create_typed(Opcode::kReduce, {tile}, tile->type().with_shape(shape),
                                 {{ir::AttributeName::kCombine, static_cast<int64_t>(kind)},
                                  {ir::AttributeName::kAxis, axis}});
  }

  ir::Function function_{"kernel", {}};
  ir::Builder builder_{function_};
};

TEST_F(CompileCpuTest, adds_vectors_whose_length_is_no_multiple_of_the_block) {
  const Type pointer = Type::pointer(DType::kFloat32);
  Value *a = parameter("a", pointer), *b = parameter("b", pointer), *c = parameter("c", pointer);
  Value* n = parameter("n", Type::number(DType::kInt32));
  function_.options().arrays_disjoint = true;
  Value* start = builder_.create(Opcode::kMul, {program_id(), i32(1024)});
  Value* offsets = builder_.create(Opcode::kAdd, {tile_of(start, {1024}), arange(1024)});
  Value* mask = builder_.create(Opcode::kLt, {offsets, tile_of(n, {1024})});
  Value* x = builder_.create(Opcode::kLoad, {pointers(a, offsets), mask});
  Value* y = builder_.create(Opcode::kLoad, {pointers(b, offsets), mask});
  builder_.create(Opcode::kStore,
                  {pointers(c, offsets), builder_.create(Opcode::kAdd, {x, y}), mask});

  const int32_t count = 5003;
  std::vector<float> left(count), right(count), sum(count + 1, -1.0f);
  for (int i = 0; i < count; ++i) left[i] = static_cast<float>(i), right[i] = 0.5f * i;
  KernelRunner runner(function_);
  runner.argument(left.data()).argument(right.data()).argument(sum.data()).argument(count).run(5);
  for (int i = 0; i < count; ++i) ASSERT_EQ(sum[i], left[i] + right[i]) << i;
  EXPECT_EQ(sum[count], -1.0f);
  EXPECT_EQ(runner.artifact().scratch_bytes, 0);
}

TEST_F(CompileCpuTest, softmax_of_rows_with_a_masked_tail) {
  const Type pointer = Type::pointer(DType::kFloat32);
  Value *in = parameter("x", pointer), *out = parameter("y", pointer);
  Value* columns = parameter("columns", Type::number(DType::kInt32));
  function_.options().arrays_disjoint = true;
  Value* start = builder_.create(Opcode::kMul, {program_id(), columns});
  Value* mask = builder_.create(Opcode::kLt, {arange(1024), tile_of(columns, {1024})});
  Value* offsets = builder_.create(Opcode::kAdd, {tile_of(start, {1024}), arange(1024)});
  Value* low = builder_.floating(Type::number(DType::kFloat32), -INFINITY);
  Value* x = builder_.create(Opcode::kLoad, {pointers(in, offsets), mask, tile_of(low, {1024})});
  Value* top = reduce(x, ir::CombineKind::kMax, 0);
  Value* e =
      builder_.create(Opcode::kExp, {builder_.create(Opcode::kSub, {x, tile_of(top, {1024})})});
  Value* sum = reduce(e, ir::CombineKind::kAdd, 0);
  builder_.create(Opcode::kStore, {pointers(out, offsets),
                                   builder_.create(Opcode::kDiv, {e, tile_of(sum, {1024})}), mask});

  const int32_t rows = 3, count = 1000;
  std::vector<float> input(rows * count), output(rows * count);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i * 7919 % 1009) * 0.01f;
  input[5] = -INFINITY;
  KernelRunner runner(function_);
  runner.argument(input.data()).argument(output.data()).argument(count).run(rows);
  for (int row = 0; row < rows; ++row) {
    const float* x_row = &input[row * count];
    double top_value = -INFINITY, total = 0;
    for (int i = 0; i < count; ++i) top_value = std::max<double>(top_value, x_row[i]);
    for (int i = 0; i < count; ++i) total += std::exp(x_row[i] - top_value);
    for (int i = 0; i < count; ++i) {
      const double expected = std::exp(x_row[i] - top_value) / total;
      ASSERT_NEAR(output[row * count + i], expected, 1e-6 * expected + 1e-12) << row << " " << i;
    }
  }
}

TEST_F(CompileCpuTest, sums_rows_and_columns_of_a_tile) {
  const Type pointer = Type::pointer(DType::kFloat32);
  Value *in = parameter("x", pointer), *rows = parameter("r", pointer),
        *columns = parameter("c", pointer);
  function_.options().arrays_disjoint = true;
  auto axis_tile = [&](int64_t extent, int64_t axis) {
    std::vector<int64_t> shape = {axis == 0 ? extent : 1, axis == 0 ? 1 : extent};
    return builder_.create_typed(Opcode::kExpandDims, {arange(extent)},
                                 Type::number(DType::kInt32, shape),
                                 {{ir::AttributeName::kAxis, axis == 0 ? int64_t{1} : int64_t{0}}});
  };
  Value* row = builder_.create(Opcode::kMul, {axis_tile(16, 0), tile_of(i32(64), {16, 1})});
  Value* offsets =
      builder_.create(Opcode::kAdd, {tile_of(row, {16, 64}), tile_of(axis_tile(64, 1), {16, 64})});
  Value* x = builder_.create(Opcode::kLoad, {pointers(in, offsets)});
  builder_.create(Opcode::kStore,
                  {pointers(rows, arange(16)), reduce(x, ir::CombineKind::kAdd, 1)});
  builder_.create(Opcode::kStore,
                  {pointers(columns, arange(64)), reduce(x, ir::CombineKind::kAdd, 0)});
  std::vector<float> input(16 * 64), by_row(16), by_column(64);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 37);
  KernelRunner runner(function_);
  runner.argument(input.data()).argument(by_row.data()).argument(by_column.data()).run(1);
  for (int i = 0; i < 16; ++i) {
    float expected = 0;
    for (int j = 0; j < 64; ++j) expected += input[i * 64 + j];
    EXPECT_EQ(by_row[i], expected);
  }
  for (int j = 0; j < 64; ++j) {
    float expected = 0;
    for (int i = 0; i < 16; ++i) expected += input[i * 64 + j];
    EXPECT_EQ(by_column[j], expected);
  }
}

TEST_F(CompileCpuTest, atomics_of_a_tile_reach_the_elements_that_its_pointers_name) {
  const Type pointer = Type::pointer(DType::kInt32);
  Value *counts = parameter("counts", pointer), *old = parameter("old", pointer);
  function_.options().arrays_disjoint = true;
  Value* added =
      builder_.create(Opcode::kAtomicRmw, {pointers(counts, arange(16)), arange(16)},
                      {{ir::AttributeName::kAtomic, static_cast<int64_t>(ir::AtomicKind::kAdd)}});
  builder_.create(Opcode::kStore, {pointers(old, arange(16)), added});
  std::vector<int32_t> totals(16, 100), before(16);
  KernelRunner runner(function_);
  runner.argument(totals.data()).argument(before.data()).run(1);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(totals[i], 100 + i);
    EXPECT_EQ(before[i], 100);
  }
}

}  // namespace
}  // namespace enceladus::cpu
