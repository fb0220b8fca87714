#include "bindings/host_memory.h"

#include <unordered_map>

#include "bindings/devices.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

struct Bytes {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Bytes&) const = default;
};

struct Entry {
  PyObject* reference = nullptr;  // a weak one to the owner, whose death ends the entry
  Bytes bytes;
  metal::MetalDevice* device = nullptr;
  Ref<metal::WrappedMemory> memory;
};

// Never destroyed: arrays die until the very end of a process.
std::unordered_map<PyObject*, Entry>& entries() {
  static auto* entries = new std::unordered_map<PyObject*, Entry>;
  return *entries;
}

std::unordered_map<PyObject*, PyObject*>& owners_by_reference() {
  static auto* owners = new std::unordered_map<PyObject*, PyObject*>;
  return *owners;
}

PyObject* forget_owner(PyObject*, PyObject* reference) {
  const auto found = owners_by_reference().find(reference);
  if (found != owners_by_reference().end()) {
    entries().erase(found->second);
    owners_by_reference().erase(found);
    Py_DECREF(reference);
  }
  Py_RETURN_NONE;
}

PyObject* new_reference(PyObject* owner) {
  static PyMethodDef method = {"forget_owner", &forget_owner, METH_O, nullptr};
  static PyObject* callback = PyCFunction_New(&method, nullptr);
  PyObject* reference = PyWeakref_NewRef(owner, callback);
  if (!reference) throw nb::python_error();
  return reference;
}

// The array whose memory a view shows: the last one that NumPy knows of.
PyObject* owner_of(const NumpyArray& array) {
  const NumpyArray* owner = &array;
  while (owner->base && is_numpy_array(owner->base))
    owner = reinterpret_cast<const NumpyArray*>(owner->base);
  return reinterpret_cast<PyObject*>(const_cast<NumpyArray*>(owner));
}

// Of an array of any type, also one that kernels do not have.
uint64_t item_bytes(const NumpyArray& array) {
  static PyObject* name = PyUnicode_InternFromString("itemsize");
  const nb::object size = nb::steal(
      PyObject_GetAttr(reinterpret_cast<PyObject*>(const_cast<NumpyArray*>(&array)), name));
  if (!size.is_valid()) throw nb::python_error();
  return nb::cast<uint64_t>(size);
}

Bytes bytes_of(const NumpyArray& array) {
  const auto first = reinterpret_cast<uint64_t>(array.data);
  Bytes bytes{first, first + item_bytes(array)};
  for (int axis = 0; axis < array.rank; ++axis) {
    if (array.shape[axis] == 0) return {first, first};
    const auto reach = static_cast<uint64_t>((array.shape[axis] - 1) * array.strides[axis]);
    (array.strides[axis] < 0 ? bytes.low : bytes.high) += reach;
  }
  return bytes;
}

}  // namespace

metal::WrappedMemory* wrapped_memory(const NumpyArray& array, metal::MetalDevice& device) {
  PyObject* owner = owner_of(array);
  const Bytes all = bytes_of(*reinterpret_cast<const NumpyArray*>(owner));
  const Bytes wanted = bytes_of(array);
  if (wanted.low < all.low || wanted.high > all.high || wanted.low == wanted.high) return nullptr;
  Entry& entry = entries()[owner];
  if (!entry.reference) {
    entry.reference = new_reference(owner);
    owners_by_reference()[entry.reference] = owner;
  }
  // NumPy lets no array move that has weak references, but `ndarray.data` can be assigned to.
  if (entry.bytes == all && entry.device == &device) return entry.memory.get();
  entry.memory = {};
  entry.bytes = all;
  entry.device = &device;
  entry.memory = device.wrap_host_memory(all.low, all.high);
  return entry.memory.get();
}

WrappedArrays::WrappedArrays(std::span<PyObject* const> arrays, Device& device) {
  if (!is_metal(device) || arrays.size() > buffers_.size()) return;
  auto& metal_device = static_cast<metal::MetalDevice&>(device);
  for (PyObject* array : arrays) {
    Buffer* memory =
        array ? wrapped_memory(*reinterpret_cast<const NumpyArray*>(array), metal_device) : nullptr;
    if (!memory) {
      count_ = 0;
      return;
    }
    buffers_[count_++] = memory;
  }
}

size_t wrapped_memory_count() {
  size_t count = 0;
  for (const auto& [owner, entry] : entries()) count += entry.memory ? 1 : 0;
  return count;
}

}  // namespace enceladus
