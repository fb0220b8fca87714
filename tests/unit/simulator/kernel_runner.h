// Helpers of the simulator's tests: load a kernel from text, launch it on vectors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/simulated_kernel.h"

namespace enceladus::simulator {

inline const std::string kPreamble =
    "#include <metal_stdlib>\n#include <metal_simdgroup_matrix>\nusing namespace metal;\n";

inline SimulatedKernel load_kernel(const std::string& body) {
  return SimulatedKernel::load(kPreamble + body, "k", {});
}

// A launch of one threadgroup of 64 threads unless told otherwise.
class Launch {
 public:
  Launch() { request_.threads = {64, 1, 1}; }
  template <class T>
  Launch& buffer(std::vector<T>& data, bool read_only = false) {
    add({next_slot_++, data.data(), data.size() * sizeof(T), read_only, false});
    return *this;
  }
  template <class T>
  Launch& constant(const T& value) {
    add({next_slot_++, &value, sizeof value, true, true});
    return *this;
  }
  Launch& threadgroup_memory(uint32_t slot, size_t bytes) {
    request_.threadgroup_memory.push_back({slot, bytes});
    return *this;
  }
  Launch& grid(uint32_t programs) { return request_.grid[0] = programs, *this; }
  Launch& threads(uint32_t count) { return request_.threads[0] = count, *this; }
  Launch& schedule(Schedule schedule, uint64_t seed = 0) {
    request_.schedule = schedule;
    request_.seed = seed;
    return *this;
  }
  LaunchRequest& request() { return request_; }
  Reports run(const SimulatedKernel& kernel) const { return kernel.run(request_); }

 private:
  void add(BoundMemory memory) { request_.bindings.push_back(memory); }

  LaunchRequest request_;
  uint32_t next_slot_ = 0;
};

// All reports as one text, for messages of failed tests.
inline std::string texts(const Reports& reports) {
  std::string text;
  for (const Report& report : reports) text += to_string(report) + "\n";
  return text;
}

}  // namespace enceladus::simulator
