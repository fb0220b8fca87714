#include "ir/verifier.h"

#include <gtest/gtest.h>

#include "ir/builder.h"

namespace enceladus::ir {
namespace {

class VerifierTest : public testing::Test {
 protected:
  std::string first_error() {
    std::vector<std::string> errors = verify(function_);
    return errors.empty() ? "" : errors.front();
  }
  bool reports(std::string_view part) { return first_error().find(part) != std::string::npos; }

  Function function_{"kernel", {}};
  Builder builder_{function_};
  Value* one_ = builder_.integer(Type::number(DType::kInt32), 1);
  Value* real_ = builder_.floating(Type::number(DType::kFloat32), 1.0);
};

TEST_F(VerifierTest, accepts_a_well_formed_loop) {
  Operation* loop = builder_.for_loop(one_, one_, one_, std::span(&real_, 1));
  builder_.set_insertion_at_end(loop->region(0));
  builder_.yield({loop->region(0)->argument(1)});
  EXPECT_EQ(first_error(), "");
}

TEST_F(VerifierTest, rejects_operands_of_unequal_types) {
  Type type = Type::number(DType::kInt32);
  Value* operands[] = {one_, real_};
  builder_.create(Opcode::kAdd, operands, std::span(&type, 1));
  EXPECT_TRUE(reports("operand `b` has type f32")) << first_error();
}

TEST_F(VerifierTest, rejects_a_use_before_the_definition) {
  Value* sum = builder_.create(Opcode::kAdd, {one_, one_});
  Value* twice = builder_.create(Opcode::kAdd, {sum, sum});
  twice->definition()->move_before(sum->definition());
  EXPECT_TRUE(reports("not defined before its use")) << first_error();
}

TEST_F(VerifierTest, rejects_a_use_of_a_value_of_an_inner_region) {
  Operation* branch = builder_.if_else(builder_.boolean(true), {});
  builder_.set_insertion_at_end(branch->region(0));
  Value* inner = builder_.create(Opcode::kAdd, {one_, one_});
  builder_.yield({});
  builder_.set_insertion_at_end(branch->region(1));
  builder_.yield({});
  builder_.set_insertion_at_end(&function_.body());
  builder_.create(Opcode::kAdd, {inner, inner});
  EXPECT_TRUE(reports("not defined before its use")) << first_error();
}

TEST_F(VerifierTest, rejects_a_carried_value_that_changes_its_type) {
  Operation* loop = builder_.for_loop(one_, one_, one_, std::span(&real_, 1));
  builder_.set_insertion_at_end(loop->region(0));
  builder_.yield({one_});
  EXPECT_TRUE(reports("value 0 of a yield has another type")) << first_error();
}

TEST_F(VerifierTest, rejects_an_extent_that_is_no_power_of_two) {
  int64_t shape[] = {12};
  builder_.integer(Type::number(DType::kInt32, shape), 1);
  EXPECT_TRUE(reports("power of two")) << first_error();
}

TEST_F(VerifierTest, rejects_a_missing_and_a_foreign_attribute) {
  Type type = Type::number(DType::kInt32);
  builder_.create(Opcode::kProgramId, {}, std::span(&type, 1),
                  {{AttributeName::kStart, int64_t{0}}});
  std::vector<std::string> errors = verify(function_);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_NE(errors[0].find("`axis` is missing"), std::string::npos);
  EXPECT_NE(errors[1].find("`start` does not belong here"), std::string::npos);
}

TEST_F(VerifierTest, rejects_a_region_without_yield) {
  builder_.if_else(builder_.boolean(true), {});
  EXPECT_TRUE(reports("does not end in yield")) << first_error();
}

TEST_F(VerifierTest, rejects_a_dot_of_unfitting_shapes) {
  int64_t a_shape[] = {16, 8}, b_shape[] = {16, 16}, c_shape[] = {16, 16};
  Value* a = builder_.floating(Type::number(DType::kFloat32, a_shape), 0);
  Value* b = builder_.floating(Type::number(DType::kFloat32, b_shape), 0);
  Value* c = builder_.floating(Type::number(DType::kFloat32, c_shape), 0);
  builder_.create_typed(Opcode::kDot, {a, b, c}, c->type());
  EXPECT_TRUE(reports("the shapes do not fit")) << first_error();
}

}  // namespace
}  // namespace enceladus::ir
