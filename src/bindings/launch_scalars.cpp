#include "bindings/launch_scalars.h"

#include <bit>
#include <cmath>
#include <string_view>

#include "bindings/launch_errors.h"
#include "support/floats.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

// The dtype by the type's full name; scalar types are static types, so the name has the module.
std::optional<DType> scalar_dtype(std::string_view type) {
  constexpr std::string_view kNumpy = "numpy.";
  if (type.ends_with("bfloat16")) return DType::kBFloat16;
  if (type.ends_with("float8_e4m3fn")) return DType::kFloat8E4M3;
  if (type.ends_with("float8_e5m2")) return DType::kFloat8E5M2;
  if (!type.starts_with(kNumpy)) return std::nullopt;
  std::string_view name = type.substr(kNumpy.size());
  if (name == "bool" || name == "bool_") return DType::kInt1;
  if (name == "longlong") return DType::kInt64;
  if (name == "ulonglong") return DType::kUInt64;
  if (name == "intc") return DType::kInt32;
  if (name == "uintc") return DType::kUInt32;
  return dtype_from_python_name(name);
}

uint64_t width_mask(DType dtype) {
  return byte_size(dtype) == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * byte_size(dtype))) - 1;
}

uint64_t float_bits(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat8E4M3:
      return round_to_format(value, kFloat8E4M3Format);
    case DType::kFloat8E5M2:
      // Not rounded, so that an infinity stays one.
      return std::isinf(value) ? (value < 0 ? 0xfc : 0x7c)
                               : round_to_format(value, kFloat8E5M2Format);
    case DType::kFloat16:
      return float16_bits(value);
    case DType::kBFloat16:
      return bfloat16_bits(value);
    case DType::kFloat32:
      return float32_bits(value);
    default:
      return std::bit_cast<uint64_t>(value);
  }
}

}  // namespace

uint64_t float32_bits(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }

uint64_t bfloat16_bits(double value) {
  uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  if (is_nan) return (bits >> 16) | 0x40;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

uint64_t float16_bits(double value) {
  uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  uint32_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | ((magnitude >> 13) & 0x3ff);
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and above round to infinity
  if (magnitude < 0x38800000) {                       // below 2^-14: subnormal or zero
    // Adding 0.5 puts the units of a subnormal float16, 2^-24, into the last bit of the sum.
    float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | (std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(0.5f));
  }
  uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return sign | ((rounded - 0x38000000) >> 13);
}

std::optional<ScalarBits> numpy_scalar(PyObject* object) {
  std::optional<DType> dtype = scalar_dtype(Py_TYPE(object)->tp_name);
  if (!dtype) return std::nullopt;
  if (is_float(*dtype)) {
    nb::object number = nb::steal(PyNumber_Float(object));
    if (!number.is_valid()) raise_set_error();
    return ScalarBits{*dtype, float_bits(*dtype, PyFloat_AS_DOUBLE(number.ptr()))};
  }
  if (is_bool(*dtype)) return ScalarBits{*dtype, static_cast<uint64_t>(PyObject_IsTrue(object))};
  nb::object number = nb::steal(PyNumber_Index(object));
  if (!number.is_valid()) raise_set_error();
  uint64_t bits = PyLong_AsUnsignedLongLongMask(number.ptr());
  return ScalarBits{*dtype, bits & width_mask(*dtype)};
}

}  // namespace enceladus
