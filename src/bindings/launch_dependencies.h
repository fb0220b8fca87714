// Whether what a kernel was compiled from is still what Python's names mean: the values of the
// globals, module attributes and closure cells that the compiler read, compared by identity at
// each launch. What a changed object means for the kernel is decided in Python (_dependencies.py).
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace enceladus {

class DependencyList {
 public:
  DependencyList() = default;
  DependencyList(const DependencyList&) = delete;
  DependencyList& operator=(const DependencyList&) = delete;
  ~DependencyList() { clear(); }

  // `records`: a sequence of (owner, name, value); the owner is a dict, a module, a cell or any
  // object with attributes. Takes the names' present values as the ones to keep to.
  void assign(nanobind::handle records);
  // Never raises; a name that is gone has changed. May run Python code where an owner is neither a
  // dict, a module nor a cell.
  bool unchanged();
  void clear();
  int traverse(visitproc visit, void* arg);

 private:
  struct Entry {
    PyObject* name;
    PyObject* value;
  };
  struct DictOwner {
    PyObject* dict;
    uint64_t version;  // of the dict when its entries were last found unchanged
    std::vector<Entry> entries;
  };
  struct OtherOwner {
    PyObject* owner;
    Entry entry;
  };
  void add_to_dict(PyObject* dict, nanobind::object name, nanobind::object value);

  std::vector<DictOwner> dicts_;
  std::vector<OtherOwner> others_;
};

}  // namespace enceladus
