#include "bindings/numpy_view.h"

#include <nanobind/stl/string.h>

#include <array>
#include <cstring>
#include <optional>

#include "bindings/argument_view.h"

namespace enceladus {
namespace nb = nanobind;
namespace {

struct NumpyDescriptor {  // the part of PyArray_Descr that NumPy 1 and 2 share
  PyObject_HEAD;
  PyTypeObject* scalar_type;
  char kind;
  char type;
  char byte_order;
  char former_flags;
  int type_number;
};

constexpr int kAlignedFlag = 0x0100;
constexpr int kWritableFlag = 0x0400;
constexpr int kFirstUserType = 256;

constexpr DType kLong = sizeof(long) == 8 ? DType::kInt64 : DType::kInt32;
constexpr DType kUnsignedLong = sizeof(long) == 8 ? DType::kUInt64 : DType::kUInt32;

// NPY_TYPES in order, as far as kernels know them.
constexpr std::array<std::optional<DType>, 24> kByTypeNumber = {
    DType::kInt1,    DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32,
    DType::kUInt32,  kLong,        kUnsignedLong, DType::kInt64, DType::kUInt64, DType::kFloat32,
    DType::kFloat64, std::nullopt, std::nullopt,  std::nullopt,  std::nullopt,   std::nullopt,
    std::nullopt,    std::nullopt, std::nullopt,  std::nullopt,  std::nullopt,   DType::kFloat16};

const NumpyDescriptor& descriptor(const NumpyArray& array) {
  return *reinterpret_cast<const NumpyDescriptor*>(array.descriptor);
}

std::string dtype_name(const NumpyArray& array) {
  return nb::cast<std::string>(nb::str(nb::handle(array.descriptor)));
}

// Whether the struct above describes the installed NumPy: compared on an array whose fields are
// all different.
bool layout_is_known(nb::handle numpy) {
  nb::object array = numpy.attr("zeros")(nb::make_tuple(3, 5), "int16").attr("T");
  nb::dict interface = nb::cast<nb::dict>(array.attr("__array_interface__"));
  const auto& fields = *reinterpret_cast<const NumpyArray*>(array.ptr());
  const auto address = nb::cast<uintptr_t>(nb::cast<nb::tuple>(interface["data"])[0]);
  return reinterpret_cast<uintptr_t>(fields.data) == address && fields.rank == 2 &&
         fields.shape[0] == 5 && fields.shape[1] == 3 && fields.strides[0] == 2 &&
         fields.strides[1] == 10 && fields.descriptor == array.attr("dtype").ptr() &&
         (fields.flags & kWritableFlag) && descriptor(fields).type_number == 3;
}

PyTypeObject* load_array_type() {
  nb::object numpy = nb::module_::import_("numpy");
  if (!layout_is_known(numpy)) return nullptr;
  return reinterpret_cast<PyTypeObject*>(nb::object(numpy.attr("ndarray")).release().ptr());
}

}  // namespace

PyTypeObject* numpy_array_type() {
  static PyTypeObject* type = load_array_type();
  return type;
}

DType numpy_dtype(const NumpyArray& array) {
  const NumpyDescriptor& record = descriptor(array);
  if (record.byte_order == '>')
    throw ArgumentProblem(ArgumentProblem::Kind::kType,
                          "has big-endian elements (" + dtype_name(array) +
                              "); convert it with `x.astype(x.dtype.newbyteorder('='))`");
  const int number = record.type_number;
  if (number >= 0 && number < static_cast<int>(kByTypeNumber.size()) && kByTypeNumber[number])
    return *kByTypeNumber[number];
  // ml_dtypes registers its types at run time, each under one number for the whole process.
  static std::array<int, kDTypeCount> numbers = {};
  for (DType dtype : {DType::kBFloat16, DType::kFloat8E4M3, DType::kFloat8E5M2}) {
    int& known = numbers[static_cast<size_t>(dtype)];
    if (number >= kFirstUserType && known == 0 && dtype_name(array) == info(dtype).python_name)
      known = number;
    if (known != 0 && known == number) return dtype;
  }
  throw ArgumentProblem(ArgumentProblem::Kind::kType,
                        "has the NumPy dtype " + dtype_name(array) + ", which kernels do not have");
}

bool numpy_is_writable(const NumpyArray& array) { return array.flags & kWritableFlag; }
bool numpy_is_aligned(const NumpyArray& array) { return array.flags & kAlignedFlag; }

Strided numpy_layout(const NumpyArray& array, DType dtype) {
  if (array.rank > kMaximumRank)
    throw ArgumentProblem(ArgumentProblem::Kind::kValue,
                          "has " + std::to_string(array.rank) + " axes; at most " +
                              std::to_string(kMaximumRank) + " are supported");
  Strided layout;
  layout.rank = array.rank;
  for (int axis = 0; axis < array.rank; ++axis) {
    layout.shape[axis] = array.shape[axis];
    layout.strides[axis] = array.strides[axis] / byte_size(dtype);
    if (array.strides[axis] % byte_size(dtype) && array.shape[axis] > 1)
      throw ArgumentProblem(ArgumentProblem::Kind::kValue,
                            "has a stride of " + std::to_string(array.strides[axis]) +
                                " bytes, which is no multiple of the element size");
  }
  return layout;
}

}  // namespace enceladus
