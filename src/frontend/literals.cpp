#include "frontend/literals.h"

#include <cmath>
#include <limits>

#include "frontend/names.h"

namespace enceladus::frontend {
namespace {

Literal int_literal(Context& context, nb::handle object) {
  Literal result{.kind = Literal::Kind::kInt};
  int overflow = 0;
  result.integer = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow == 0) return result;
  uint64_t bits = overflow > 0 ? PyLong_AsUnsignedLongLong(object.ptr()) : 0;
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_Clear();
    context.fail(DiagnosticId::kLiteralTooLarge, {nb::cast<std::string>(nb::str(object))});
  }
  result.integer = static_cast<int64_t>(bits);
  result.above_int64 = true;
  return result;
}

// A NumPy scalar, or another library's value of rank 0 that knows its Python number.
bool is_foreign_scalar(nb::handle object) {
  if (PyType_Check(object.ptr()) || !nb::hasattr(object, "item")) return false;
  return nb::hasattr(object, "ndim") && constant_int(Value::constant(object.attr("ndim"))) == 0;
}

int64_t saturated(double value, DType dtype) {
  if (std::isnan(value)) return 0;
  if (is_bool(dtype)) return value != 0;
  int width = bit_width(dtype);
  if (!is_signed(dtype)) {
    if (value <= 0) return 0;
    double limit = std::ldexp(1.0, width);
    return value >= limit ? -1 : static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  double limit = std::ldexp(1.0, width - 1);
  int64_t largest = static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1);
  if (value >= limit) return largest;
  return value <= -limit ? -largest - 1 : static_cast<int64_t>(value);
}

}  // namespace

std::optional<Literal> literal_of(Context& context, nb::handle object) {
  PyObject* pointer = object.ptr();
  if (PyBool_Check(pointer))
    return Literal{.kind = Literal::Kind::kBool, .integer = pointer == Py_True};
  if (PyLong_Check(pointer)) return int_literal(context, object);
  if (PyFloat_Check(pointer))
    return Literal{.kind = Literal::Kind::kFloat, .floating = PyFloat_AS_DOUBLE(pointer)};
  if (is_foreign_scalar(object)) {
    nb::object item = object.attr("item")();
    if (!item.type().is(object.type())) return literal_of(context, item);
  }
  return std::nullopt;
}

bool fits(const Literal& literal, DType dtype) {
  if (is_float(dtype)) return true;
  if (literal.above_int64) return dtype == DType::kUInt64;
  int width = bit_width(dtype);
  if (is_signed(dtype)) {
    if (width == 64) return true;
    int64_t limit = int64_t{1} << (width - 1);
    return literal.integer >= -limit && literal.integer < limit;
  }
  if (literal.integer < 0) return false;
  return width == 64 || literal.integer < (int64_t{1} << width);
}

DType default_dtype(const Literal& literal) {
  if (literal.kind == Literal::Kind::kBool) return DType::kInt1;
  if (literal.kind == Literal::Kind::kFloat) return DType::kFloat32;
  if (fits(literal, DType::kInt32)) return DType::kInt32;
  return literal.above_int64 ? DType::kUInt64 : DType::kInt64;
}

uint64_t bits_of_literal(const Literal& literal, DType dtype) {
  if (literal.kind == Literal::Kind::kFloat) {
    if (is_float(dtype)) return ir::bits_of(dtype, literal.floating);
    return ir::bits_of_integer(dtype, saturated(literal.floating, dtype));
  }
  if (literal.above_int64 && is_float(dtype))
    return ir::bits_of(dtype, static_cast<double>(static_cast<uint64_t>(literal.integer)));
  if (is_bool(dtype)) return literal.integer != 0;
  return ir::bits_of_integer(dtype, literal.integer);
}

ir::Value* materialize(Context& context, const Value& value) {
  if (value.is_runtime()) return value.ssa;
  if (value.is_constant()) {
    if (std::optional<Literal> literal = literal_of(context, value.object)) {
      DType dtype = default_dtype(*literal);
      return context.builder.constant_bits(ir::Type::number(dtype),
                                           bits_of_literal(*literal, dtype));
    }
  }
  context.fail(DiagnosticId::kNotANumber, {describe(value)});
}

ir::Value* materialize_as(Context& context, const Value& value, DType dtype,
                          std::span<const int64_t> shape) {
  if (value.is_constant()) {
    if (std::optional<Literal> literal = literal_of(context, value.object))
      return context.builder.constant_bits(ir::Type::number(dtype, shape),
                                           bits_of_literal(*literal, dtype));
  }
  ir::Value* ssa = materialize(context, value);
  if (!ssa->type().is_number()) context.fail(DiagnosticId::kNotANumber, {describe(value)});
  ssa = context.builder.cast(ssa, dtype);
  return shape.empty() ? ssa : context.builder.broadcast_to(ssa, shape);
}

bool is_number(Context& context, const Value& value) {
  if (value.is_runtime()) return value.type().is_number();
  return value.is_constant() && literal_of(context, value.object).has_value();
}

std::optional<int64_t> constant_int(const Value& value) {
  if (!value.is_constant()) return std::nullopt;
  PyObject* object = value.object.ptr();
  if (PyBool_Check(object) || !PyIndex_Check(object)) return std::nullopt;
  PyObject* index = PyNumber_Index(object);
  int overflow = 0;
  int64_t result = index ? PyLong_AsLongLongAndOverflow(index, &overflow) : 0;
  Py_XDECREF(index);
  if (!index) PyErr_Clear();
  return index && overflow == 0 ? std::optional(result) : std::nullopt;
}

}  // namespace enceladus::frontend
