// The words of one C-family language: what the shared walk (emitter.h) and the shared elementwise
// rules (elementwise.h) ask of each. The languages share most of C, and by their heads also the
// names `uchar`, `half`, `as_type<T>(x)`. Not: statements that only one language has.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/ir.h"

namespace enceladus::codegen {

using Operands = std::span<const std::string>;

// The names that most dialects give to types.
std::string_view type_name(DType dtype);
std::string_view memory_type_name(DType dtype);

class Dialect {
 public:
  virtual ~Dialect() = default;

  // As messages name it: `metal`.
  virtual std::string_view target() const = 0;
  // `float`, `uchar`; booleans are `bool` in registers and `uchar` in memory, floats of 8 bits are
  // `uchar` in both.
  virtual std::string_view type_name(DType dtype) const { return codegen::type_name(dtype); }
  std::string_view memory_type_name(DType dtype) const {
    return type_name(dtype == DType::kInt1 ? DType::kUInt8 : dtype);
  }
  // `device const float*`.
  virtual std::string pointer_type(DType pointee, bool is_const) const = 0;
  // A literal of exactly these bits.
  virtual std::string literal(DType dtype, uint64_t bits) const = 0;
  // The program's place along a grid axis, or the grid's extent, as an int.
  virtual std::string program_position(ir::Opcode opcode, int64_t axis) const = 0;

  // Elementwise operations on floats, whose rules of rounding differ; all but comparisons, select
  // and conversions.
  virtual std::string float_operation(const ir::Operation& op, Operands operands,
                                      ir::MathMode mode) = 0;
  // Between two different types of which one is a float, or to a float; not to a boolean, and
  // neither a float of 8 bits.
  virtual std::string float_conversion(DType from, DType to, ir::Rounding rounding,
                                       const std::string& value) = 0;
  // A float of 8 bits as a float, and the nearest one of any number.
  virtual std::string from_float8(DType from, const std::string& value) = 0;
  virtual std::string to_float8(DType from, DType to, ir::Rounding rounding,
                                const std::string& value) = 0;
  // Functions for division and remainder of integers by run-time numbers, 0 and -1 included.
  virtual std::string divide(DType dtype) = 0;
  virtual std::string remainder(DType dtype) = 0;
  // The upper half of the unsigned product of 32 or 64 bits.
  virtual std::string high_product(DType dtype) = 0;

  // A word of another lane: of the one whose number differs in the mask's bits, or of that number.
  virtual std::string shuffle_xor(const std::string& value, int64_t mask) const = 0;
  virtual std::string shuffle(const std::string& value, const std::string& lane) const = 0;
  // The sum, maximum or minimum over the lanes.
  virtual std::string warp_reduction(ir::CombineKind combine, const std::string& value) const = 0;

 protected:
  // A value of a narrow float in the float that it computes in, and back.
  std::string wide(DType dtype, const std::string& value) const;
  std::string rounded(DType dtype, const std::string& value) const;
};

// A literal of an integer type of that name.
std::string integer_literal(std::string_view type, DType dtype, int64_t value);
// Nine digits and an `f`, in parentheses where negative; finite values.
std::string float_literal(double value);

std::string call(std::string_view function, const std::string& a);
std::string call(std::string_view function, const std::string& a, const std::string& b);
bool is_narrow_float(DType dtype);

}  // namespace enceladus::codegen
