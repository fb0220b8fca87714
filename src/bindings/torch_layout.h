// Which bit of a torch tensor's memory says that torch negates it at each read, so that a launch
// need not call a method for it: asking costs more than the rest of an argument. Found and checked
// by tensors of several kinds when torch is first seen, as torch promises no layout. Not: anything
// else of torch's C++ objects; where the bit is not found, callers ask the tensor.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <optional>

namespace enceladus {

class NegationBit {
 public:
  // Nothing where torch does not show its tensors' keys, or keeps them elsewhere.
  static std::optional<NegationBit> find(nanobind::handle torch);

  // For tensors of torch's own classes that are alive.
  bool is_set(const PyObject* tensor) const {
    const char* inner = nullptr;
    std::memcpy(&inner, reinterpret_cast<const char*>(tensor) + inner_offset_, sizeof(inner));
    uint64_t keys = 0;
    std::memcpy(&keys, inner + keys_offset_, sizeof(keys));
    return (keys & mask_) != 0;
  }

 private:
  NegationBit() = default;

  size_t inner_offset_ = 0;  // in the Python object: the address of torch's own
  size_t keys_offset_ = 0;   // in that: the set of keys by which torch chooses what to run
  uint64_t mask_ = 0;
};

}  // namespace enceladus
