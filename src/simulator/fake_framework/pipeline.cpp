#include "simulator/fake_framework/pipeline.h"

#include <algorithm>

#include "simulator/fake_framework/device.h"
#include "simulator/fake_framework/foundation.h"
#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/property.h"

namespace enceladus::fake_metal {

const Class& PipelineDescriptor::type() {
  using Self = PipelineDescriptor;
  static constexpr Method kMethods[] = {
      getter<&Self::function>("computeFunction"),
      setter<&Self::function>("setComputeFunction:"),
      getter<&Self::label>("label"),
      setter<&Self::label>("setLabel:"),
      getter<&Self::max_total_threads>("maxTotalThreadsPerThreadgroup"),
      setter<&Self::max_total_threads>("setMaxTotalThreadsPerThreadgroup:"),
      getter<&Self::whole_simd_groups>("threadGroupSizeIsMultipleOfThreadExecutionWidth"),
      setter<&Self::whole_simd_groups>("setThreadGroupSizeIsMultipleOfThreadExecutionWidth:"),
  };
  static const Class& type =
      *new Class({.name = "MTLComputePipelineDescriptor", .methods = kMethods, .allocate = [] {
                    return make<PipelineDescriptor>();
                  }});
  return type;
}

const Class& Pipeline::type() {
  static constexpr Method kMethods[] = {
      method<&Pipeline::most_threads>("maxTotalThreadsPerThreadgroup"),
      method<&Pipeline::simd_width>("threadExecutionWidth"),
      method<&Pipeline::threadgroup_bytes>("staticThreadgroupMemoryLength"),
      method<&Pipeline::label>("label"),
  };
  static const Class& type =
      *new Class({.name = "MTLComputePipelineState", .methods = kMethods, .is_protocol = true});
  return type;
}

Object* Pipeline::build(const Function& function, const PipelineRequest& request,
                        const Message& message, size_t error_index) {
  if (request.max_total_threads > kMostThreads) {
    throw ContractViolation("maxTotalThreadsPerThreadgroup is " +
                            std::to_string(request.max_total_threads) + ", at most 1024 can be");
  }
  try {
    Ref<Pipeline> pipeline =
        Ref<Pipeline>::take(make<Pipeline>(function.load(), request, function.library().logging()));
    if (pipeline->static_bytes() > Device::kThreadgroupBytes) {
      write_error(message, error_index, "AGXMetal", 3,
                  "Threadgroup memory size (" + std::to_string(pipeline->static_bytes()) +
                      ") exceeds the maximum threadgroup memory allowed (32768)");
      return nullptr;
    }
    retain(pipeline.get());
    return pipeline.get();
  } catch (const std::exception&) {
    write_compile_error(message, error_index);
    return nullptr;
  }
}

Pipeline::Pipeline(simulator::SimulatedKernel kernel, PipelineRequest request, bool logs)
    : kernel_(std::move(kernel)), request_(std::move(request)), logs_(logs) {
  max_total_threads_ = std::min<uint64_t>(kernel_.signature().max_total_threads, kMostThreads);
  if (request_.max_total_threads != 0) {
    max_total_threads_ = std::min(max_total_threads_, request_.max_total_threads);
  }
}

uint64_t Pipeline::static_bytes() const {
  constexpr uint64_t kGranule = 16;
  return (kernel_.static_threadgroup_bytes() + kGranule - 1) / kGranule * kGranule;
}

Result Pipeline::most_threads(const Message&) { return give(max_total_threads_); }
Result Pipeline::simd_width(const Message&) { return give(kSimdWidth); }
Result Pipeline::threadgroup_bytes(const Message&) { return give(static_bytes()); }
Result Pipeline::label(const Message&) { return give_text(request_.label); }

}  // namespace enceladus::fake_metal
