// One launch's arguments, classified: what each is to the compiler (part of the key) and what it
// is to the device (a slot of bits, a range of addresses).
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bindings/argument_view.h"
#include "bindings/launch_binding.h"
#include "bindings/launch_constants.h"
#include "bindings/launch_key.h"
#include "bindings/tensor.h"

namespace enceladus {

enum class ArgumentKind : uint8_t { kConstexpr, kScalar, kPointer };

// Facts about a run-time argument; a fact set here holds, one not set may hold as well.
enum : uint8_t {
  kFactDivisibleBy16 = 1,  // integers by value, arrays by address
  kFactEqualTo1 = 2,
};

// Without initial values: a launch makes room for as many as a kernel may have and fills a few.
struct Argument {
  ArgumentKind kind;
  DType dtype;
  uint8_t facts;
  bool writable;  // arrays
  ArgumentOrigin origin;
  PyObject* value;                // borrowed from the call, or from LaunchArguments::converted
  const char* unwritable_reason;  // as in ArgumentView
};

// Whether a launch is meant (real values), or a compilation for stand-ins (MockTensor, dtypes).
enum class StandIns : uint8_t { kRefused, kAccepted };

class LaunchArguments {
 public:
  LaunchArguments(KernelState& kernel, BoundCall& bound, StandIns stand_ins)
      : kernel_(kernel), bound_(bound), stand_ins_(stand_ins) {}

  // Fills everything below and the part of the key that depends on arguments.
  void classify(KeyWriter& key);
  // Whether no array that may be written shares bytes with another array: what
  // `arrays_disjoint` tells the compiler. Before anything is known about writes, every array
  // counts as written.
  bool arrays_disjoint() const;

  // Whether every array spans fewer than 2^31 elements, so that 32-bit offsets may serve.
  bool arrays_small() const;

  const KernelState& kernel() const { return kernel_; }
  size_t count() const { return bound_.count; }
  const Argument& argument(size_t index) const { return arguments_[index]; }
  // Null where no array argument lies on a device of its own: any device will do.
  Device* device() const { return device_; }
  // The stream on which PyTorch works, for its tensors on a GPU.
  std::optional<void*> native_stream() const { return native_stream_; }
  // Slots of arrays in the host's memory.
  std::span<const uint16_t> host_arrays() const { return {host_slots_, host_count_}; }
  // The NumPy array in which each of these lies; null where there is none. Borrowed.
  std::span<PyObject* const> host_objects() const { return {host_objects_, host_count_}; }
  std::span<const ForeignArray> foreign_arrays() const { return foreign_arrays_; }
  // Index of the first argument of an origin; -1 where there is none.
  int first_of(ArgumentOrigin origin) const { return first_[static_cast<size_t>(origin)]; }

  size_t slot_count() const { return slots_; }
  const uint64_t* slots() const { return slot_bits_; }
  const uint64_t* extents() const { return extents_; }
  const std::vector<Ref<Resource>>& held() const { return held_; }
  Resource* const* resources() const { return resources_; }
  size_t resource_count() const { return resource_count_; }
  void add_resource(Ref<Resource> resource);

 private:
  void add_constant(size_t index, PyObject* given, KeyWriter& key);
  void classify_runtime(size_t index, KeyWriter& key);
  // Numbers of other types than Python's own, and stand-ins; false for what is no argument at all.
  bool add_unusual(size_t index, PyObject* value, KeyWriter& key);
  void add_integer(size_t index, PyObject* integer, KeyWriter& key);
  void add_scalar(size_t index, DType dtype, uint64_t bits, uint8_t facts, KeyWriter& key);
  void add_pointer(size_t index, DType dtype, bool aligned, KeyWriter& key);
  void add_array(size_t index, ArgumentView& view, KeyWriter& key);
  // The same for one of ours, which has what a view would tell.
  void add_tensor(size_t index, const TensorObject& tensor, KeyWriter& key);
  void note_array(size_t index, ArgumentOrigin origin, bool writable, Resource* resource);
  bool add_stand_in(size_t index, PyObject* value, KeyWriter& key);
  void push_slot(uint64_t bits, uint64_t low, uint64_t high);
  void note_device(size_t index, Device* device);
  [[noreturn]] void refuse(size_t index);

  KernelState& kernel_;
  BoundCall& bound_;
  StandIns stand_ins_;
  Device* device_ = nullptr;
  size_t device_argument_ = 0;
  std::optional<void*> native_stream_;
  int first_[kArgumentOrigins] = {-1, -1, -1, -1, -1};
  size_t slots_ = 0;
  size_t array_count_ = 0;
  size_t host_count_ = 0;
  size_t resource_count_ = 0;
  std::vector<Ref<Resource>> held_;
  std::vector<nanobind::object> converted_;
  std::vector<ForeignArray> foreign_arrays_;
  // Only the first `count()` (arguments), `slots_`, `array_count_` elements are filled.
  Argument arguments_[kMostParameters];
  uint64_t slot_bits_[kMostParameters];
  uint64_t extents_[2 * kMostParameters];
  Resource* resources_[kMostParameters];
  uint16_t host_slots_[kMostParameters];
  PyObject* host_objects_[kMostParameters];
  struct ArraySlot {
    uint16_t parameter;
    uint16_t slot;
  };
  ArraySlot arrays_[kMostParameters];
};

}  // namespace enceladus
