// The handlers of `tl` functions: one specialization per record of functions.def. A record without
// one fails to link. Not for callers: they use call_function.
#pragma once

#include "frontend/arithmetic.h"
#include "frontend/functions.h"
#include "frontend/literals.h"
#include "frontend/names.h"
#include "frontend/promotion.h"

namespace enceladus::frontend {

template <FunctionId id>
Value handle(const Arguments& arguments);
#define FUNCTION(Enumerator, ...) \
  template <>                     \
  Value handle<FunctionId::k##Enumerator>(const Arguments&);
#include "frontend/functions.def"
#undef FUNCTION

// An argument `mask`, as an int1 of the shape; null where it is absent or the constant True.
ir::Value* mask_argument(const Arguments& arguments, std::span<const int64_t> shape);
// A value converted to the type and broadcast to the shape.
ir::Value* converted_argument(const Arguments& arguments, std::string_view name, DType dtype,
                              std::span<const int64_t> shape);
// Axis of a tile, counted from its end where negative.
int checked_axis(const Arguments& arguments, int64_t axis, int rank);

}  // namespace enceladus::frontend
