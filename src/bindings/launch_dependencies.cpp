#include "bindings/launch_dependencies.h"

#include "bindings/launch_errors.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

constexpr uint64_t kNoVersion = ~uint64_t{0};

// CPython before 3.13 numbers every change of every dict, which makes an untouched dict one
// comparison. Elsewhere each name is looked up.
uint64_t dict_version(PyObject* dict) {
#if PY_VERSION_HEX < 0x030D0000 && !defined(PYPY_VERSION)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
#pragma GCC diagnostic pop
#else
  return kNoVersion;
#endif
}

PyObject* owning_dict(PyObject* owner) {
  if (PyDict_CheckExact(owner)) return owner;
  if (PyModule_CheckExact(owner)) return PyModule_GetDict(owner);
  return nullptr;
}

// New reference, or null without an error where there is no such value. What is no `Exception`
// (Ctrl-C while the owner's own code looks for it) goes on as it is.
PyObject* present_value(PyObject* owner, PyObject* name) {
  PyObject* value = PyCell_Check(owner) ? PyCell_Get(owner) : PyObject_GetAttr(owner, name);
  if (value != nullptr) return value;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) raise_set_error();
  PyErr_Clear();
  return nullptr;
}

}  // namespace

void DependencyList::add_to_dict(PyObject* dict, nb::object name, nb::object value) {
  DictOwner* group = nullptr;
  for (DictOwner& known : dicts_)
    if (known.dict == dict) group = &known;
  if (group == nullptr) {
    Py_INCREF(dict);
    dicts_.push_back({dict, dict_version(dict), {}});
    group = &dicts_.back();
  }
  group->entries.push_back({name.release().ptr(), value.release().ptr()});
}

void DependencyList::assign(nb::handle records) {
  clear();
  for (nb::handle record : records) {
    nb::object owner = record[0], name = record[1], value = record[2];
    PyObject* dict = owning_dict(owner.ptr());
    if (dict != nullptr && PyDict_Contains(dict, name.ptr()) == 1) {
      add_to_dict(dict, std::move(name), std::move(value));
      continue;
    }
    others_.push_back({owner.release().ptr(), {name.release().ptr(), value.release().ptr()}});
  }
}

bool DependencyList::unchanged() {
  for (DictOwner& owner : dicts_) {
    uint64_t version = dict_version(owner.dict);
    if (version == owner.version && version != kNoVersion) continue;
    for (const Entry& entry : owner.entries) {
      if (PyDict_GetItemWithError(owner.dict, entry.name) == entry.value) continue;
      PyErr_Clear();
      return false;
    }
    owner.version = version;
  }
  for (const OtherOwner& other : others_) {
    PyObject* value = present_value(other.owner, other.entry.name);
    Py_XDECREF(value);
    if (value != other.entry.value) return false;
  }
  return true;
}

void DependencyList::clear() {
  std::vector<DictOwner> dicts = std::move(dicts_);
  std::vector<OtherOwner> others = std::move(others_);
  dicts_.clear();
  others_.clear();
  for (DictOwner& owner : dicts) {
    for (const Entry& entry : owner.entries) {
      Py_DECREF(entry.name);
      Py_DECREF(entry.value);
    }
    Py_DECREF(owner.dict);
  }
  for (const OtherOwner& other : others) {
    Py_DECREF(other.owner);
    Py_DECREF(other.entry.name);
    Py_DECREF(other.entry.value);
  }
}

int DependencyList::traverse(visitproc visit, void* arg) {
  for (const DictOwner& owner : dicts_) {
    Py_VISIT(owner.dict);
    for (const Entry& entry : owner.entries) {
      Py_VISIT(entry.name);
      Py_VISIT(entry.value);
    }
  }
  for (const OtherOwner& other : others_) {
    Py_VISIT(other.owner);
    Py_VISIT(other.entry.name);
    Py_VISIT(other.entry.value);
  }
  return 0;
}

}  // namespace enceladus
