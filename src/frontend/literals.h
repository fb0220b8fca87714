// Python numbers as literals of the language ("weak" numbers that take the other operand's type),
// and as constants of the IR.
#pragma once

#include <optional>

#include "frontend/context.h"

namespace enceladus::frontend {

struct Literal {
  enum class Kind : uint8_t { kBool, kInt, kFloat };
  Kind kind = Kind::kInt;
  int64_t integer = 0;       // of a bool or an int; the bits of an int above 2^63-1
  bool above_int64 = false;  // an int from 2^63 to 2^64-1
  double floating = 0;       // of a float
};

// Nothing where the object is no number. NumPy scalars count as the Python number they hold. An
// int beyond 64 bits is an error at the current place.
std::optional<Literal> literal_of(Context& context, nb::handle object);

// Whether an int or bool literal is a value of the integer type.
bool fits(const Literal& literal, DType dtype);
// int1, int32 (int64, uint64 where it does not fit), float32.
DType default_dtype(const Literal& literal);
// The element's bits after conversion: floats round once, a float truncates and saturates to an
// integer type, an int wraps.
uint64_t bits_of_literal(const Literal& literal, DType dtype);

// A number or bool as an SSA value: what is one already, or a constant of its default type. For
// anything else an error that says what was expected.
ir::Value* materialize(Context& context, const Value& value);
// The same converted to a type; a literal becomes a constant of that type and shape at once.
ir::Value* materialize_as(Context& context, const Value& value, DType dtype,
                          std::span<const int64_t> shape = {});
// Whether the value can become an SSA number.
bool is_number(Context& context, const Value& value);

// A compile-time int (NumPy's too); nothing for other values, bools included.
std::optional<int64_t> constant_int(const Value& value);

}  // namespace enceladus::frontend
