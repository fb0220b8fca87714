#include "codegen/cuda/prelude.h"

#include <algorithm>

#include "codegen/common/dialect.h"
#include "codegen/cuda/access_prelude.h"
#include "codegen/cuda/atomics_prelude.h"
#include "codegen/cuda/float8_prelude.h"
#include "codegen/cuda/matrix_prelude.h"
#include "codegen/cuda/snippets.h"
#include "support/check.h"

namespace enceladus::cuda {
namespace {

std::string divide_text(const std::string& type, DType dtype) {
  std::string wide = byte_size(dtype) == 8 ? "ulong" : "uint";
  std::string wraps = is_signed(dtype) ? "b == -1 ? " + type + "(0 - " + wide + "(a)) : " : "";
  return "// a / 0 is 0.\n__device__ inline " + type + " enc_divide(" + type + " a, " + type +
         " b) {\n  return b == 0 ? " + type + "(0) : " + wraps + type + "(a / b);\n}\n";
}

std::string remainder_text(const std::string& type, DType dtype) {
  std::string wraps = is_signed(dtype) ? "b == -1 ? " + type + "(0) : " : "";
  return "// a % 0 is a.\n__device__ inline " + type + " enc_remainder(" + type + " a, " + type +
         " b) {\n  return b == 0 ? a : " + wraps + type + "(a % b);\n}\n";
}

// The device's conversions saturate, and give 0 for a NaN where neither side has 64 bits.
std::string saturate_text(const std::string& name, DType from, DType to) {
  std::string source(type_name(from)), target(type_name(to));
  int width = bit_width(to);
  std::string function = "__" + source + "2";
  if (width == 64)
    function += is_signed(to) ? "ll_rz" : "ull_rz";
  else
    function += width == 32 && !is_signed(to) ? "uint_rz" : "int_rz";
  std::string value = function + "(a)";
  if (width < 32) {
    int64_t low = is_signed(to) ? -(int64_t{1} << (width - 1)) : 0;
    int64_t high = (int64_t{1} << (is_signed(to) ? width - 1 : width)) - 1;
    value = "min(max(" + value + ", " + std::to_string(low) + "), " + std::to_string(high) + ")";
  }
  std::string check = width == 64 || from == DType::kFloat64 ? "a != a ? " + target + "(0) : " : "";
  return "// Truncates; NaN gives 0, out of range the nearest end.\n__device__ inline " + target +
         " " + name + "(" + source + " a) {\n  return " + check + target + "(" + value + ");\n}\n";
}

std::string odd_text(DType from) {
  std::string type(type_name(from));
  std::string convert = from == DType::kFloat64  ? "__double2float_rz"
                        : from == DType::kInt32  ? "__int2float_rz"
                        : from == DType::kUInt32 ? "__uint2float_rz"
                        : from == DType::kInt64  ? "__ll2float_rz"
                                                 : "__ull2float_rz";
  bool is_double = from == DType::kFloat64;
  // The conversion back is exact: what was cut off lies below float32's last bit.
  std::string back = is_double         ? "double(f) != a && a == a"
                     : is_signed(from) ? "__float2ll_rz(f) != long(a)"
                                       : "__float2ull_rz(f) != ulong(a)";
  return "// Toward zero, the last bit set where that was not exact.\n__device__ inline float "
         "enc_round_to_odd(" +
         type + " a) {\n  float f = " + convert + "(a);\n  return " + back +
         " ? __uint_as_float(__float_as_uint(f) | 1u) : f;\n}\n";
}

}  // namespace

std::string_view type_name(DType dtype) {
  return dtype == DType::kInt8 ? "schar" : codegen::type_name(dtype);
}

std::string_view memory_type_name(DType dtype) {
  return dtype == DType::kInt1 ? "uchar" : type_name(dtype);
}

std::string Prelude::use(std::string_view helper) {
  auto is_named = [&](const Snippet& snippet) { return snippet.name == helper; };
  ENC_CHECK(
      std::ranges::any_of(snippets(), is_named) || std::ranges::any_of(async_snippets(), is_named),
      "no helper " + std::string(helper));
  snippets_.emplace(helper);
  return "enc_" + std::string(helper);
}

std::string Prelude::add(std::string name, std::string_view key, std::string text) {
  generated_.emplace(name + " " + std::string(key), std::move(text));
  return name;
}

std::string Prelude::divide(DType dtype) {
  std::string type(type_name(dtype));
  return add("enc_divide", type, divide_text(type, dtype));
}

std::string Prelude::remainder(DType dtype) {
  std::string type(type_name(dtype));
  return add("enc_remainder", type, remainder_text(type, dtype));
}

std::string Prelude::saturate(DType from, DType to) {
  std::string name = "enc_to_" + std::string(type_name(to));
  return add(name, type_name(from), saturate_text(name, from, to));
}

std::string Prelude::round_to_odd(DType from) {
  return add("enc_round_to_odd", type_name(from), odd_text(from));
}

std::string Prelude::widen_float8(DType from) { return add(widen_float8_function(from)); }

std::string Prelude::narrow_float8(DType to, ir::Rounding rounding) {
  return add(narrow_float8_function(to, rounding));
}

std::string Prelude::widen_float8_pair(DType from, DType to) {
  if (to == DType::kFloat16) use("half");
  widen_float8(from);
  AsyncText function = widen_float8_pair_function(from, to);
  return add(std::move(function.name), type_name(to), std::move(function.text));
}

std::string Prelude::narrow_float8_pair(DType to) {
  narrow_float8(to, ir::Rounding::kNearestEven);
  return add(narrow_float8_pair_function(to));
}

std::string Prelude::load(std::string_view hint) {
  use("vector");
  return add(load_name(hint), "", load_text(hint));
}

std::string Prelude::store(std::string_view hint) {
  use("vector");
  return add(store_name(hint), "", store_text(hint));
}

std::string Prelude::atomic(ir::AtomicKind kind, DType dtype) {
  return add(atomic_name(kind), type_name(dtype), atomic_text(kind, dtype));
}

std::string Prelude::compare_and_swap(DType dtype) {
  return add(kCompareAndSwapName, type_name(dtype), compare_and_swap_text(dtype));
}

std::string Prelude::matrix(std::string_view instruction, DType a, DType b, DType accumulator) {
  for (DType operand : {a, b}) {
    if (operand == DType::kFloat32) use("tf32");
    if (byte_size(operand) < 4) use("word");
    if (is_float8(operand)) widen_float8_pair(operand, DType::kFloat16);
  }
  MatrixText matrix = matrix_text(instruction, a, b, accumulator);
  return add(matrix.name, "", std::move(matrix.text));
}

std::string Prelude::text() const {
  std::string text(head_text());
  for (std::span<const Snippet> list : {snippets(), async_snippets()})
    for (const Snippet& snippet : list)
      if (snippets_.contains(snippet.name)) text += std::string(snippet.text) + "\n";
  for (const auto& [key, function] : generated_) text += function + "\n";
  return text;
}

}  // namespace enceladus::cuda
