#include "ir/printer.h"

#include <gtest/gtest.h>

#include "ir/builder.h"

namespace enceladus::ir {
namespace {

TEST(Printer, prints_names_facts_attributes_and_nested_regions) {
  Function function("sum", {});
  Value* x = function.append_parameter(
      {.name = "x", .type = Type::pointer(DType::kFloat32), .aligned_16 = true});
  Value* n = function.append_parameter(
      {.name = "n", .type = Type::number(DType::kInt32), .divisible_by_16 = true});
  Builder builder(function);
  Value* zero = builder.integer(Type::number(DType::kInt32), 0);
  Value* acc = builder.floating(Type::number(DType::kFloat32), -0.0);
  acc->set_name("acc");
  Operation* loop = builder.for_loop(zero, n, zero, std::span(&acc, 1));
  loop->result()->set_name("acc");
  loop->region(0)->argument(0)->set_name("i");
  builder.set_insertion_at_end(loop->region(0));
  Value* pointer = builder.create(Opcode::kAddPtr, {x, loop->region(0)->argument(0)});
  Value* loaded = builder.create(Opcode::kLoad, {pointer});
  Value* mask = builder.boolean(true);
  Value* masked = builder.create(Opcode::kLoad, {pointer, mask, loaded});
  builder.yield({builder.create(Opcode::kMax, {loop->region(0)->argument(1), masked},
                                {{AttributeName::kPropagateNan, int64_t{1}}})});
  builder.set_insertion_at_end(&function.body());
  builder.create(Opcode::kStore, {x, loop->result()});
  EXPECT_EQ(
      print(function),
      R"(kernel @sum(%x: ptr<f32> {aligned_16}, %n: i32 {divisible_by_16}) {num_warps = 4, math_mode = relaxed} {
  %0 = constant 0 : i32
  %acc = constant -0.0 : f32
  %acc.1 = for %i = %0 to %n step %0 carry (%acc.2 = %acc) : (f32) {
    %1 = addptr %x, %i : ptr<f32>, i32
    %2 = load %1 : ptr<f32>
    %3 = constant true : i1
    %4 = load %1, mask = %3, other = %2 : ptr<f32>
    %5 = max %acc.2, %4 {propagate_nan = 1} : f32
    yield %5
  }
  store %x, %acc.1 : ptr<f32>
}
)");
}

TEST(Printer, constants_show_what_they_are) {
  EXPECT_EQ(constant_text(DType::kInt1, 1), "true");
  EXPECT_EQ(constant_text(DType::kInt8, 0xff), "-1");
  EXPECT_EQ(constant_text(DType::kUInt64, ~uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(constant_text(DType::kFloat16, 0x3c00), "1.0");
  EXPECT_EQ(constant_text(DType::kFloat16, 0x7c00), "inf");
  EXPECT_EQ(constant_text(DType::kFloat32, 0x7fc00001), "0x7fc00001");
  EXPECT_EQ(constant_text(DType::kFloat32, bits_of(DType::kFloat32, 1e20)), "1e+20");
}

}  // namespace
}  // namespace enceladus::ir
