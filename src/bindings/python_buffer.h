// Memory that belongs to a Python object (an array of another library), kept alive by a reference.
#pragma once

#include <nanobind/nanobind.h>

#include "runtime/common/buffer.h"

namespace enceladus {

class PythonBuffer : public Buffer {
 public:
  PythonBuffer(nanobind::object owner, void* data, int64_t bytes)
      : Buffer(data, bytes), owner_(owner.release().ptr()) {}
  // Takes the interpreter lock; when the interpreter is gone the reference is leaked.
  ~PythonBuffer() override {
    if (!Py_IsInitialized()) return;
    nanobind::gil_scoped_acquire lock;
    Py_DECREF(owner_);
  }
  bool deletes_anywhere() const override { return false; }

 private:
  PyObject* owner_;
};

}  // namespace enceladus
