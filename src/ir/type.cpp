#include "ir/type.h"

#include <algorithm>

#include "support/check.h"

namespace enceladus::ir {
namespace {

std::string joined(std::span<const int64_t> shape, std::string_view separator) {
  std::string result;
  for (int64_t extent : shape) {
    if (!result.empty()) result += separator;
    result += std::to_string(extent);
  }
  return result;
}

}  // namespace

Type::Type(TypeKind kind, DType dtype, std::span<const int64_t> shape)
    : kind_(kind), dtype_(dtype), rank_(static_cast<int8_t>(shape.size())) {
  ENC_CHECK(shape.size() <= kMaxRank);
  std::copy(shape.begin(), shape.end(), shape_.begin());
}

int64_t Type::elements() const {
  int64_t product = 1;
  for (int64_t extent : shape()) product *= extent;
  return product;
}

Type Type::with_dtype(DType dtype) const { return number(dtype, shape()); }

Type Type::with_shape(std::span<const int64_t> shape) const { return Type(kind_, dtype_, shape); }

std::string to_string(const Type& type) {
  std::string name(info(type.dtype()).text_name);
  if (type.is_none()) return "none";
  if (type.is_descriptor()) return "desc<" + joined(type.shape(), "x") + "x" + name + ">";
  if (type.is_pointer()) name = "ptr<" + name + ">";
  if (type.rank() == 0) return name;
  return "tile<" + joined(type.shape(), "x") + "x" + name + ">";
}

std::string to_user_string(const Type& type) {
  std::string name(info(type.dtype()).python_name);
  if (type.is_none()) return "nothing";
  if (type.is_descriptor()) name = "tensor_descriptor<" + name + ">";
  if (type.is_pointer()) name = "pointer<" + name + ">";
  return type.rank() == 0 ? name : name + "[" + joined(type.shape(), ", ") + "]";
}

}  // namespace enceladus::ir
