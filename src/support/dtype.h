// Element types of tiles, scalars and arrays. Not: shapes or pointers (ir/type.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace enceladus {

enum class DType : uint8_t {
#define DTYPE(name, python, text, bytes, kind) k##name,
#include "support/dtypes.def"
#undef DTYPE
};

enum class DTypeKind : uint8_t { kBool, kSigned, kUnsigned, kFloat };

struct DTypeInfo {
  DType dtype;
  std::string_view python_name;  // as in `tl.float32`
  std::string_view text_name;    // as in IR text
  uint8_t bytes;                 // in memory
  DTypeKind kind;
};

inline constexpr DTypeInfo kDTypes[] = {
#define DTYPE(name, python, text, bytes, kind) \
  {DType::k##name, python, text, bytes, DTypeKind::k##kind},
#include "support/dtypes.def"
#undef DTYPE
};
inline constexpr int kDTypeCount = static_cast<int>(std::size(kDTypes));

constexpr const DTypeInfo& info(DType dtype) { return kDTypes[static_cast<int>(dtype)]; }
constexpr int byte_size(DType dtype) { return info(dtype).bytes; }
// Width of the value: 1 for int1, else 8 * byte_size.
constexpr int bit_width(DType dtype) { return dtype == DType::kInt1 ? 1 : 8 * byte_size(dtype); }
constexpr bool is_float(DType dtype) { return info(dtype).kind == DTypeKind::kFloat; }
constexpr bool is_float8(DType dtype) {
  return dtype == DType::kFloat8E4M3 || dtype == DType::kFloat8E5M2;
}
constexpr bool is_integer(DType dtype) { return !is_float(dtype); }  // int1 included
constexpr bool is_bool(DType dtype) { return dtype == DType::kInt1; }
constexpr bool is_signed(DType dtype) {
  return info(dtype).kind == DTypeKind::kSigned || is_float(dtype);
}
constexpr bool is_unsigned(DType dtype) {
  return info(dtype).kind == DTypeKind::kUnsigned || is_bool(dtype);
}

constexpr std::optional<DType> dtype_from_python_name(std::string_view name) {
  for (const DTypeInfo& record : kDTypes)
    if (record.python_name == name) return record.dtype;
  return std::nullopt;
}
constexpr std::optional<DType> dtype_from_text_name(std::string_view name) {
  for (const DTypeInfo& record : kDTypes)
    if (record.text_name == name) return record.dtype;
  return std::nullopt;
}

}  // namespace enceladus
