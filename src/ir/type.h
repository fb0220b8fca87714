// Types of IR values: scalars, pointers, tiles of either, and tensor descriptors. A plain value
// type; equality is structural. Not: layouts (who holds which element), which belong to lowering.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "support/dtype.h"

namespace enceladus::ir {

inline constexpr int kMaxRank = 8;
inline constexpr int64_t kMaxExtent = 65536;      // of one tile dimension
inline constexpr int64_t kMaxElements = 1 << 20;  // of a whole tile

enum class TypeKind : uint8_t {
  kNone,        // of an operation without result
  kNumber,      // scalar (rank 0) or tile of dtype
  kPointer,     // pointer (rank 0) or tile of pointers to dtype
  kDescriptor,  // tensor descriptor; shape is its block shape, dtype its elements
};

class Type {
 public:
  constexpr Type() = default;
  static Type number(DType dtype, std::span<const int64_t> shape = {}) {
    return Type(TypeKind::kNumber, dtype, shape);
  }
  static Type pointer(DType pointee, std::span<const int64_t> shape = {}) {
    return Type(TypeKind::kPointer, pointee, shape);
  }
  static Type descriptor(DType dtype, std::span<const int64_t> block_shape) {
    return Type(TypeKind::kDescriptor, dtype, block_shape);
  }

  TypeKind kind() const { return kind_; }
  DType dtype() const { return dtype_; }  // of the elements, of the pointee
  int rank() const { return rank_; }
  std::span<const int64_t> shape() const { return {shape_.data(), static_cast<size_t>(rank_)}; }
  int64_t extent(int axis) const { return shape_[static_cast<size_t>(axis)]; }
  int64_t elements() const;  // product of the shape, 1 for a scalar

  bool is_none() const { return kind_ == TypeKind::kNone; }
  bool is_number() const { return kind_ == TypeKind::kNumber; }
  bool is_pointer() const { return kind_ == TypeKind::kPointer; }
  bool is_descriptor() const { return kind_ == TypeKind::kDescriptor; }
  bool is_scalar() const { return rank_ == 0 && (is_number() || is_pointer()); }
  bool is_tile() const { return rank_ > 0 && (is_number() || is_pointer()); }
  bool is_float() const { return is_number() && enceladus::is_float(dtype_); }
  bool is_integer() const { return is_number() && enceladus::is_integer(dtype_); }
  bool is_bool() const { return is_number() && enceladus::is_bool(dtype_); }

  Type with_dtype(DType dtype) const;                     // a number type of the same shape
  Type with_shape(std::span<const int64_t> shape) const;  // the same kind and dtype
  Type element() const { return with_shape({}); }

  bool operator==(const Type&) const = default;

 private:
  Type(TypeKind kind, DType dtype, std::span<const int64_t> shape);

  TypeKind kind_ = TypeKind::kNone;
  DType dtype_ = DType::kInt32;
  int8_t rank_ = 0;
  std::array<int64_t, kMaxRank> shape_{};
};

// As in IR text: `f32`, `tile<64x32xf32>`, `ptr<f32>`, `tile<64xptr<f32>>`, `desc<64x32xf16>`.
std::string to_string(const Type& type);
// As a user reads it: `float32`, `float32[64, 32]`, `pointer<float32>[64]`.
std::string to_user_string(const Type& type);

}  // namespace enceladus::ir
