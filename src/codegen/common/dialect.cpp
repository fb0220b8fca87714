#include "codegen/common/dialect.h"

#include <cmath>
#include <cstdio>

namespace enceladus::codegen {

std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::kInt1:
      return "bool";
    case DType::kInt8:
      return "char";
    case DType::kInt16:
      return "short";
    case DType::kInt32:
      return "int";
    case DType::kInt64:
      return "long";
    case DType::kUInt8:
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
      return "uchar";
    case DType::kUInt16:
      return "ushort";
    case DType::kUInt32:
      return "uint";
    case DType::kUInt64:
      return "ulong";
    case DType::kFloat16:
      return "half";
    case DType::kBFloat16:
      return "bfloat";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
  }
  return "";
}

std::string_view memory_type_name(DType dtype) {
  return dtype == DType::kInt1 ? "uchar" : type_name(dtype);
}

std::string Dialect::wide(DType dtype, const std::string& value) const {
  return is_narrow_float(dtype) ? call("float", value) : value;
}

std::string Dialect::rounded(DType dtype, const std::string& value) const {
  return is_narrow_float(dtype) ? call(type_name(dtype), value) : value;
}

std::string integer_literal(std::string_view type, DType dtype, int64_t value) {
  std::string digits = std::to_string(value);
  switch (dtype) {
    case DType::kInt1:
      return value ? "true" : "false";
    case DType::kInt32:
      if (value == INT32_MIN) return "(-2147483647 - 1)";
      return value < 0 ? "(" + digits + ")" : digits;
    case DType::kInt64:
      if (value == INT64_MIN) return "(-9223372036854775807L - 1L)";
      return value < 0 ? "(" + digits + "L)" : digits + "L";
    case DType::kUInt32:
      return std::to_string(static_cast<uint32_t>(value)) + "u";
    case DType::kUInt64:
      return std::to_string(static_cast<uint64_t>(value)) + "ul";
    default:
      return call(type, digits);
  }
}

std::string float_literal(double value) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.9g", value);
  std::string text = digits;
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += "f";
  return std::signbit(value) ? "(" + text + ")" : text;
}

std::string call(std::string_view function, const std::string& a) {
  return std::string(function) + "(" + a + ")";
}

std::string call(std::string_view function, const std::string& a, const std::string& b) {
  return std::string(function) + "(" + a + ", " + b + ")";
}

bool is_narrow_float(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

}  // namespace enceladus::codegen
