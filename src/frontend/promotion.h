// The types of mixed expressions (api.md, section 2), and shapes that broadcast together.
#pragma once

#include "frontend/context.h"

namespace enceladus::frontend {

// What an operation makes of its common type.
enum class OperandRule : uint8_t {
  kSame,        // where: the common type
  kOrdered,     // comparisons, maximum: the common type, no float8
  kArithmetic,  // int1 becomes int32
  kDivision,    // integers become float32
  kBitwise,     // integers only, int1 stays
  kFloat,       // floats only
};

// An error where a type is a float of 8 bits, in which nothing computes.
void refuse_float8(Context& context, DType dtype, std::string_view what);

// The common type of two run-time types.
DType promoted(DType a, DType b);
// The same for values, either of which may be a literal.
DType common_dtype(Context& context, const Value& a, const Value& b);

struct Operands {
  ir::Value* a;
  ir::Value* b;
  DType dtype;
};
// Both converted to the type by the rule and broadcast to the common shape. `what` names the
// operation in errors, for example "`+`".
Operands promote(Context& context, const Value& a, const Value& b, OperandRule rule,
                 std::string_view what);

// The shape of the result of an elementwise operation; an error that names both shapes where they
// do not go together.
std::vector<int64_t> common_shape(Context& context, std::span<const int64_t> a,
                                  std::span<const int64_t> b);
std::span<const int64_t> shape_of(const Value& value);  // empty for scalars and constants

// A value as a tile of the shape; an error where its shape does not broadcast to it.
ir::Value* broadcast_to(Context& context, ir::Value* value, std::span<const int64_t> shape);

}  // namespace enceladus::frontend
