// What a kernel object keeps between launches: its parameters and the table of specializations.
// All of it is read and written with the interpreter lock held.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/launch_constants.h"
#include "bindings/launch_dependencies.h"
#include "runtime/common/kernel.h"

namespace enceladus {

constexpr size_t kMostParameters = 128;

struct KernelParameter {
  nanobind::object name;           // an interned str
  std::string text;                // the same
  nanobind::object default_value;  // invalid where there is none
  bool is_constexpr = false;
  bool do_not_specialize = false;
  bool do_not_specialize_on_alignment = false;
  bool keyword_only = false;
  bool positional_only = false;
};

// One compiled variant of a kernel, ready to launch.
struct Specialization {
  std::string key;
  Ref<Kernel> kernel;
  nanobind::object compiled;  // the CompiledKernel
  DependencyList dependencies;
  bool must_ask = false;  // some dependency can change and stay the same object
};

// Open addressing over 64-bit hashes; never shrinks.
class SpecializationTable {
 public:
  // Null where there is none. Shared, because Python code that runs meanwhile may replace it.
  std::shared_ptr<Specialization> find(std::string_view key) const;
  // Replaces what the key had.
  void insert(std::shared_ptr<Specialization> specialization);
  void clear();
  int traverse(visitproc visit, void* arg);

 private:
  size_t slot_of(std::string_view key, uint64_t hash) const;
  void grow();

  struct Slot {
    uint64_t hash = 0;
    int32_t entry = -1;
  };
  std::vector<Slot> slots_;
  std::vector<std::shared_ptr<Specialization>> entries_;
  mutable int32_t found_ = -1;  // by the last `find`: launches mostly repeat
};

struct KernelState {
  std::string name;
  std::vector<KernelParameter> parameters;
  SpecializationTable table;
  CanonicalObjects objects;
  int8_t interpret = -1;  // -1 follows the environment
  int8_t debug = -1;
  // Which parameters any specialization so far writes; meaningless before the first compilation.
  std::vector<bool> written;
  bool written_known = false;
};

}  // namespace enceladus
