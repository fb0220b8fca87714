#include "codegen/metal/dialect.h"

#include <cmath>
#include <cstdio>

#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::metal {
namespace {

constexpr std::string_view kReserved[] = {
    "alignas", "alignof", "and", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
    "char", "class", "compl", "const", "const_cast", "constant", "constexpr", "continue",
    "decltype", "default", "delete", "device", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "fragment", "friend", "goto", "half",
    "if", "inline", "int", "kernel", "long", "main", "metal", "mutable", "namespace", "new",
    "noexcept", "not", "nullptr", "operator", "or", "private", "protected", "public", "register",
    "reinterpret_cast", "return", "short", "signed", "sizeof", "static", "static_assert",
    "static_cast", "struct", "switch", "template", "this", "thread", "threadgroup",
    "threadgroup_imageblock", "throw", "true", "try", "typedef", "typeid", "typename", "union",
    "unsigned", "using", "vertex", "virtual", "void", "volatile", "wchar_t", "while", "xor", "mesh",
    "object", "ray_data", "visible", "intersection", "uchar", "ushort", "uint", "ulong", "size_t",
    "ptrdiff_t", "bfloat", "atomic_int", "atomic_uint", "atomic_float", "atomic_bool", "sampler",
    "texture", "vec", "matrix", "packed_float2", "float2", "float3", "float4", "half2", "half3",
    "half4", "int2", "int3", "int4", "uint2", "uint3", "uint4", "char2", "char4", "uchar2",
    "uchar4", "short2", "short4", "ushort2", "ushort4", "long2", "ulong2", "bool2", "bool4", "abs",
    "acos", "all", "any", "asin", "atan", "atan2", "as_type", "ceil", "clamp", "clz", "copysign",
    "cos", "cosh", "cross", "ctz", "discard_fragment", "distance", "dot", "exp", "exp10", "exp2",
    "fabs", "fast", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "fract", "frexp", "ilogb",
    "isfinite", "isinf", "isnan", "isnormal", "ldexp", "length", "log", "log10", "log2", "max",
    "max3", "median3", "min", "min3", "mix", "modf", "mulhi", "normalize", "popcount", "pow",
    "powr", "precise", "reverse_bits", "rint", "rotate", "round", "rsqrt", "saturate", "select",
    "sign", "sin", "sincos", "sinh", "smoothstep", "sqrt", "step", "tan", "tanh", "trunc",
    "simd_sum", "simd_max", "simd_min", "simd_shuffle", "simd_shuffle_xor", "quad_sum",
    "threadgroup_barrier", "simdgroup_barrier", "mem_flags", "os_log", "NULL", "NAN", "INFINITY",
    "MAXFLOAT", "HUGE_VALF",
    // what every kernel has
    "program", "programs", "lane", "warp", "scalars", "Scalars", "shared", "r"};

}  // namespace

std::span<const std::string_view> reserved_words() { return kReserved; }

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

std::string vector_name(std::string_view type, int64_t elements) {
  return std::string(type) + (elements > 1 ? std::to_string(elements) : "");
}

std::string integer_literal(DType dtype, int64_t value) {
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
      return std::string(type_name(dtype)) + "(" + digits + ")";
  }
}

namespace {

std::string float_literal(double value) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.9g", value);
  std::string text = digits;
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += "f";
  return std::signbit(value) ? "(" + text + ")" : text;
}

}  // namespace

std::string literal(DType dtype, uint64_t bits) {
  if (is_integer(dtype)) return integer_literal(dtype, ir::integer_of_bits(dtype, bits));
  ENC_CHECK(dtype != DType::kFloat64, "float64 has no text here");
  double value = ir::double_of_bits(dtype, bits);
  if (!std::isfinite(value)) {
    std::string number = std::to_string(bits);
    if (dtype == DType::kFloat32) {
      if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
      return "as_type<float>(" + number + "u)";
    }
    return "as_type<" + std::string(type_name(dtype)) + ">(ushort(" + number + "))";
  }
  if (dtype == DType::kFloat32) return float_literal(value);
  return std::string(type_name(dtype)) + "(" + float_literal(value) + ")";
}

}  // namespace enceladus::metal
