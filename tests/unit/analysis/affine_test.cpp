#include "analysis/affine.h"

#include <gtest/gtest.h>

#include "analysis/mask.h"
#include "ir/builder.h"

namespace enceladus::analysis {
namespace {

using ir::Opcode;
using ir::Type;
using ir::Value;

class AffineTest : public testing::Test {
 protected:
  Value* parameter(const char* name, bool divisible = false) {
    return function_.append_parameter(
        {.name = name, .type = Type::number(DType::kInt32), .divisible_by_16 = divisible});
  }
  Value* arange(int64_t extent, int64_t start = 0) {
    return builder_.create_typed(Opcode::kArange, {},
                                 Type::number(DType::kInt32, std::span(&extent, 1)),
                                 {{ir::AttributeName::kStart, start}});
  }
  Value* program_id() {
    Value* value = builder_.create_typed(Opcode::kProgramId, {}, Type::number(DType::kInt32),
                                         {{ir::AttributeName::kAxis, int64_t{0}}});
    value->set_name("pid");
    return value;
  }
  Value* number(int64_t value) { return builder_.integer(Type::number(DType::kInt32), value); }
  Value* splat(Value* value, std::initializer_list<int64_t> shape) {
    return builder_.broadcast_to(value, std::span(shape.begin(), shape.size()));
  }
  Value* add(Value* a, Value* b) { return builder_.create(Opcode::kAdd, {a, b}); }
  Value* mul(Value* a, Value* b) { return builder_.create(Opcode::kMul, {a, b}); }
  Value* wide(Value* value) { return builder_.cast(value, DType::kInt64); }
  Value* column(Value* row) {
    int64_t shape[] = {row->type().extent(0), 1};
    return builder_.create_typed(Opcode::kExpandDims, {row}, row->type().with_shape(shape),
                                 {{ir::AttributeName::kAxis, int64_t{1}}});
  }

  ir::Function function_{"kernel", {}};
  ir::Builder builder_{function_};
};

TEST_F(AffineTest, a_block_of_a_matrix_has_a_base_and_two_strides) {
  Value* pointer = function_.append_parameter(
      {.name = "a", .type = Type::pointer(DType::kFloat32), .aligned_16 = true});
  Value* stride = parameter("stride");
  Value* start = mul(wide(program_id()), wide(number(32)));
  Value* rows = add(splat(start, {32}), wide(arange(32)));
  Value* offsets = mul(column(rows), splat(wide(stride), {32, 1}));
  Value* both = add(splat(offsets, {32, 16}), splat(wide(arange(16)), {32, 16}));
  Value* pointers = builder_.create(Opcode::kAddPtr, {splat(pointer, {32, 16}), both});
  AffineForms forms(function_, AffineForms::Meaning::kExact);
  const Affine* form = forms.of(pointers);
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->pointer, pointer);
  EXPECT_EQ(to_string(form->base), "32*stride*pid");
  EXPECT_EQ(to_string(form->strides[0]), "stride");
  EXPECT_EQ(to_string(form->strides[1]), "1");
}

TEST_F(AffineTest, what_may_wrap_is_not_taken_apart) {
  Value* product = mul(program_id(), number(1 << 20));
  AffineForms forms(function_, AffineForms::Meaning::kExact);
  EXPECT_EQ(forms.scalar(wide(product)), Sum(product));
}

TEST_F(AffineTest, a_product_of_two_index_tiles_has_no_form) {
  Value* square = mul(arange(8), arange(8));
  AffineForms forms(function_, AffineForms::Meaning::kExact);
  EXPECT_EQ(forms.of(square), nullptr);
}

TEST_F(AffineTest, splitting_an_axis_by_reshape_keeps_the_form) {
  int64_t shape[] = {2, 1, 4};
  Value* reshaped =
      builder_.create_typed(Opcode::kReshape, {arange(8, 5)}, Type::number(DType::kInt32, shape));
  AffineForms forms(function_, AffineForms::Meaning::kExact);
  const Affine* form = forms.of(reshaped);
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(to_string(form->base), "5");
  EXPECT_EQ(to_string(form->strides[0]), "4");
  EXPECT_EQ(to_string(form->strides[1]), "0");
  EXPECT_EQ(to_string(form->strides[2]), "1");
}

TEST_F(AffineTest, a_mask_of_a_block_is_a_bound_although_the_program_offset_may_wrap) {
  Value* n = parameter("n");
  Value* start = mul(program_id(), number(1024));
  start->set_name("start");
  Value* offsets = add(splat(start, {1024}), arange(1024));
  Value* mask = builder_.create(Opcode::kLt, {offsets, splat(n, {1024})});
  Facts facts(function_);
  AffineForms forms(function_, AffineForms::Meaning::kWrapping, &facts);
  MaskForm form = mask_form(mask, forms);
  ASSERT_EQ(form.bounds.size(), 1u);
  EXPECT_TRUE(form.rest.empty());
  EXPECT_EQ(form.bounds[0].side, MaskBound::Side::kBelow);
  EXPECT_EQ(to_string(form.bounds[0].limit), "n + -1*start");
}

TEST_F(AffineTest, a_mask_whose_elements_may_wrap_is_not_a_bound) {
  Value* n = parameter("n");
  Value* start = parameter("start");
  Value* offsets = add(splat(start, {1024}), arange(1024));
  Value* mask = builder_.create(Opcode::kLt, {offsets, splat(n, {1024})});
  Facts facts(function_);
  AffineForms forms(function_, AffineForms::Meaning::kWrapping, &facts);
  MaskForm form = mask_form(mask, forms);
  EXPECT_TRUE(form.bounds.empty());
  EXPECT_EQ(form.rest, std::vector<Value*>{mask});
}

TEST_F(AffineTest, a_two_dimensional_mask_is_a_bound_an_axis) {
  Value* m = parameter("m");
  Value* rows = builder_.create(Opcode::kLt, {arange(8), splat(m, {8})});
  Value* columns = builder_.create(Opcode::kGe, {arange(4), splat(number(2), {4})});
  Value* mask =
      builder_.create(Opcode::kAnd, {splat(column(rows), {8, 4}), splat(columns, {8, 4})});
  Facts facts(function_);
  AffineForms forms(function_, AffineForms::Meaning::kWrapping, &facts);
  MaskForm form = mask_form(mask, forms);
  ASSERT_EQ(form.bounds.size(), 2u);
  EXPECT_EQ(form.bounds[0].axis, 0);
  EXPECT_EQ(to_string(form.bounds[0].limit), "m");
  EXPECT_EQ(form.bounds[1].axis, 1);
  EXPECT_EQ(form.bounds[1].side, MaskBound::Side::kFrom);
  EXPECT_EQ(to_string(form.bounds[1].limit), "2");
}

}  // namespace
}  // namespace enceladus::analysis
