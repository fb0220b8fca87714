#include "simulator/simulated_kernel.h"

#include <algorithm>
#include <stdexcept>

#include "simulator/execution.h"
#include "simulator/kernel_image.h"

namespace enceladus::simulator {
namespace {

[[noreturn]] void refuse(const KernelSignature& signature, const std::string& text) {
  throw std::invalid_argument("kernel `" + signature.name + "`: " + text);
}

constexpr size_t kThreadgroupMemoryBytes = 32768;

void check_size(const KernelSignature& signature, const LaunchRequest& request,
                size_t static_bytes) {
  size_t bytes = static_bytes;
  for (const ThreadgroupMemory& one : request.threadgroup_memory) bytes += one.bytes;
  if (bytes > kThreadgroupMemoryBytes) {
    refuse(signature, std::to_string(bytes) + " bytes of threadgroup memory (" +
                          std::to_string(static_bytes) + " declared by the kernel); " +
                          std::to_string(kThreadgroupMemoryBytes) + " are possible");
  }
  uint64_t threads = uint64_t{request.threads[0]} * request.threads[1] * request.threads[2];
  if (threads == 0 || threads > signature.max_total_threads) {
    refuse(signature, std::to_string(threads) + " threads a threadgroup; 1 to " +
                          std::to_string(signature.max_total_threads) + " are possible");
  }
  uint64_t programs = uint64_t{request.grid[0]} * request.grid[1] * request.grid[2];
  if (programs > UINT32_MAX) {
    refuse(signature, std::to_string(programs) + " threadgroups; the simulator runs 2^32 - 1");
  }
}

// The index into `bindings` or `threadgroup_memory` that serves a parameter.
size_t binding_of(const KernelSignature& signature, const KernelParameter& parameter,
                  const LaunchRequest& request) {
  bool threadgroup = parameter.kind == ParameterKind::kThreadgroup;
  size_t count = threadgroup ? request.threadgroup_memory.size() : request.bindings.size();
  for (size_t i = 0; i < count; ++i) {
    uint32_t slot = threadgroup ? request.threadgroup_memory[i].slot : request.bindings[i].slot;
    if (slot == parameter.slot) return i;
  }
  refuse(signature, "nothing is bound to " + std::string(threadgroup ? "threadgroup(" : "buffer(") +
                        std::to_string(parameter.slot) + "), parameter `" + parameter.name + "`");
}

std::vector<uint64_t> slot_addresses(const KernelSignature& signature, const LaunchRequest& request,
                                     const MemoryMap& memory) {
  std::vector<uint64_t> slots;
  for (const KernelParameter& parameter : signature.parameters) {
    if (parameter.kind == ParameterKind::kBuiltin) {
      slots.push_back(0);
      continue;
    }
    size_t index = binding_of(signature, parameter, request);
    slots.push_back(parameter.kind == ParameterKind::kThreadgroup
                        ? memory.address_of_threadgroup(index)
                        : memory.address_of_bound(index));
  }
  return slots;
}

// The bindings, each with the name of the parameter that it serves.
std::vector<BoundMemory> named(const KernelSignature& signature,
                               std::vector<BoundMemory> bindings) {
  for (BoundMemory& binding : bindings) {
    for (const KernelParameter& parameter : signature.parameters) {
      bool in_buffer =
          parameter.kind == ParameterKind::kBuffer || parameter.kind == ParameterKind::kConstant;
      if (in_buffer && parameter.slot == binding.slot) binding.name = parameter.name;
    }
  }
  return bindings;
}

}  // namespace

SimulatedKernel SimulatedKernel::load(const std::string& msl, const std::string& entry,
                                      const CompileOptions& options) {
  CompiledMsl compiled = compile_msl(msl, entry, options);
  auto image = std::make_unique<KernelImage>(compiled.object_path, msl);
  return {std::move(compiled.signature), std::move(image)};
}

SimulatedKernel::SimulatedKernel(KernelSignature signature, std::unique_ptr<KernelImage> image)
    : signature_(std::move(signature)), image_(std::move(image)) {}
SimulatedKernel::~SimulatedKernel() = default;
SimulatedKernel::SimulatedKernel(SimulatedKernel&&) noexcept = default;

size_t SimulatedKernel::static_threadgroup_bytes() const {
  size_t bytes = 0;
  for (const ThreadgroupArray& array : image_->threadgroup_arrays()) bytes += array.bytes;
  return bytes;
}

Reports SimulatedKernel::run(const LaunchRequest& request) const {
  check_size(signature_, request, static_threadgroup_bytes());
  MemoryMap memory;
  std::vector<size_t> threadgroup_bytes;
  for (const ThreadgroupMemory& one : request.threadgroup_memory) {
    threadgroup_bytes.push_back(one.bytes);
  }
  memory.build(named(signature_, request.bindings), threadgroup_bytes);
  std::lock_guard<std::mutex> turn(image_->launch_mutex());
  for (const ThreadgroupArray& array : image_->threadgroup_arrays()) {
    memory.add_threadgroup_array(array.address, array.bytes,
                                 "threadgroup array `" + array.name + "`");
  }
  Execution execution(*image_, signature_, request, memory,
                      slot_addresses(signature_, request, memory));
  execution.run();
  memory.copy_back();
  return execution.reports().finish(*image_, signature_.name);
}

}  // namespace enceladus::simulator
