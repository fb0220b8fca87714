// MTLComputePipelineState: a kernel that is ready to run, and its limits.
#pragma once

#include <string>

#include "simulator/fake_framework/library.h"
#include "simulator/fake_framework/object.h"
#include "simulator/simulated_kernel.h"

namespace enceladus::fake_metal {

class PipelineDescriptor : public Body {
 public:
  static const Class& type();

  Ref<Function> function;
  std::string label;
  uint64_t max_total_threads = 0;  // 0: as the function says
  bool whole_simd_groups = false;  // the host promises that threadgroups consist of whole ones
};

// What a descriptor asks for beyond the function.
struct PipelineRequest {
  uint64_t max_total_threads = 0;
  bool whole_simd_groups = false;
  std::string label;

  PipelineRequest() = default;
  PipelineRequest(const PipelineDescriptor& descriptor)
      : max_total_threads(descriptor.max_total_threads),
        whole_simd_groups(descriptor.whole_simd_groups),
        label(descriptor.label) {}
};

class Pipeline : public Body {
 public:
  static constexpr uint64_t kSimdWidth = 32;
  static constexpr uint64_t kMostThreads = 1024;

  static const Class& type();
  // The pipeline, or null after an error was written to that argument of the message.
  static Object* build(const Function& function, const PipelineRequest& request,
                       const Message& message, size_t error_index);
  Pipeline(simulator::SimulatedKernel kernel, PipelineRequest request, bool logs);

  const simulator::SimulatedKernel& kernel() const { return kernel_; }
  uint64_t max_total_threads() const { return max_total_threads_; }
  uint64_t static_bytes() const;
  bool whole_simd_groups() const { return request_.whole_simd_groups; }
  bool logs() const { return logs_; }

  Result most_threads(const Message& message);
  Result simd_width(const Message& message);
  Result threadgroup_bytes(const Message& message);
  Result label(const Message& message);

 private:
  simulator::SimulatedKernel kernel_;
  PipelineRequest request_;
  bool logs_;
  uint64_t max_total_threads_;
};

}  // namespace enceladus::fake_metal
