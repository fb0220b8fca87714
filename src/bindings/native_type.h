// What the Python types that are written against the C API share (launcher_types, tuned_types): how
// C++ exceptions leave them, and how the garbage collector sees their members. Objects begin with
// PyObject_HEAD and own a reference by each member that is listed; a listed member may be null.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/launch_errors.h"

namespace enceladus {

// What the function returns; null with Python's error set where it throws.
template <class Function>
PyObject* guarded(Function function) {
  try {
    return function();
  } catch (...) {
    set_error_of_current_exception();
    return nullptr;
  }
}

template <class Object>
Object& native(PyObject* object) {
  return *reinterpret_cast<Object*>(object);
}

// tp_clear of an object with these members.
template <class Object, PyObject* Object::*... kMembers>
int clear_members(PyObject* object) {
  const auto clear = [](PyObject*& member) { Py_CLEAR(member); };
  (clear(native<Object>(object).*kMembers), ...);
  return 0;
}

// tp_traverse of an object with these members.
template <class Object, PyObject* Object::*... kMembers>
int traverse_members(PyObject* object, visitproc visit, void* arg) {
  const auto visited = [&](PyObject* member) -> int {
    Py_VISIT(member);
    return 0;
  };
  int result = visited(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  ((result = result ? result : visited(native<Object>(object).*kMembers)), ...);
  return result;
}

// tp_dealloc of a type whose tp_clear drops everything that the object owns.
template <inquiry kClear>
void clear_and_free(PyObject* object) {
  PyObject_GC_UnTrack(object);
  kClear(object);
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

}  // namespace enceladus
