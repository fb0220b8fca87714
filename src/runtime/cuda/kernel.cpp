#include "runtime/cuda/kernel.h"

#include <algorithm>

#include "runtime/common/failure.h"

namespace enceladus::cuda {
namespace {

// CUfunction_attribute.
constexpr int kMostThreads = 0;
constexpr int kStaticSharedBytes = 1;
constexpr int kDynamicSharedBytes = 8;

bool text_waits(const Artifact& artifact) {
  for (const auto& [stage, text] : artifact.stages)
    if (stage == "cuda") return text.find("griddepcontrol.wait") != std::string::npos;
  return false;
}

}  // namespace

CudaKernel::CudaKernel(const Context& context, Artifact given)
    : Kernel(std::move(given)), tensor_maps_(artifact()) {
  const Context::Scope scope(context);
  const Driver& driver = context.driver();
  const std::string& name = artifact().kernel;
  waits_itself_ = text_waits(artifact());
  threads_ = artifact().threads ? artifact().threads : 32 * artifact().num_warps;
  context.check(driver.load_module(&module_, artifact().binary.data()), "cuModuleLoadData", name);
  context.check(driver.module_function(&function_, module_, artifact().entry.c_str()),
                "cuModuleGetFunction", name);
  check_limits(context);
  const auto shared = static_cast<int>(artifact().shared_bytes);
  context.check(driver.set_function_attribute(function_, kDynamicSharedBytes, shared),
                "cuFuncSetAttribute", name);
  int blocks = 0;
  context.check(driver.resident_blocks(&blocks, function_, threads_, static_cast<size_t>(shared)),
                "cuOccupancyMaxActiveBlocksPerMultiprocessor", name);
  resident_programs_ = std::max(1, blocks) * context.attribute(kMultiprocessors);
}

void CudaKernel::check_limits(const Context& context) const {
  const std::string device = "cuda:" + std::to_string(context.ordinal());
  int static_bytes = 0, most_threads = 0;
  const Driver& driver = context.driver();
  context.check(driver.function_attribute(&static_bytes, kStaticSharedBytes, function_),
                "cuFuncGetAttribute", artifact().kernel);
  context.check(driver.function_attribute(&most_threads, kMostThreads, function_),
                "cuFuncGetAttribute", artifact().kernel);
  const int64_t shared = artifact().shared_bytes + static_bytes;
  const int most_shared = context.attribute(kSharedBytesOptIn);
  if (shared > most_shared)
    throw DeviceFailure("cuda", "kernel `" + artifact().kernel + "` needs " +
                                    std::to_string(shared) + " bytes of shared memory, but " +
                                    device + " has " + std::to_string(most_shared) +
                                    " for a program; use smaller tiles or fewer num_stages");
  if (threads_ > most_threads)
    throw DeviceFailure("cuda",
                        "kernel `" + artifact().kernel + "` has " + std::to_string(threads_) +
                            " threads a program, but with its registers " + device + " takes " +
                            std::to_string(most_threads) + "; use fewer num_warps");
}

}  // namespace enceladus::cuda
