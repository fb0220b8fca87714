#include "codegen/common/printf_text.h"

namespace enceladus::codegen {

Printed printed_hex(DType dtype, const std::string& value) {
  int bytes = byte_size(dtype);
  std::string digits = "0x%0" + std::to_string(2 * bytes);
  if (bytes == 8) return {digits + "lx", "as_type<ulong>(" + value + ")"};
  if (bytes == 4) return {digits + "x", "as_type<uint>(" + value + ")"};
  if (is_bool(dtype)) return {digits + "x", "uint(" + value + ")"};
  return {digits + "x",
          std::string("uint(as_type<") + (bytes == 2 ? "ushort" : "uchar") + ">(" + value + "))"};
}

Printed printed_number(DType dtype, const std::string& value) {
  if (dtype == DType::kFloat64) return {"%f", value};
  if (is_float(dtype)) return {"%f", "float(" + value + ")"};
  if (dtype == DType::kInt64) return {"%ld", value};
  if (dtype == DType::kUInt64) return {"%lu", value};
  if (is_signed(dtype) || is_bool(dtype)) return {"%d", "int(" + value + ")"};
  return {"%u", "uint(" + value + ")"};
}

std::string escaped_format(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '%')
      result += "%%";
    else if (c == '\n')
      result += "\\n";
    else if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result;
}

}  // namespace enceladus::codegen
