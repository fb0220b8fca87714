#include "runtime/cuda/kernel.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runtime/common/failure.h"
#include "runtime/cuda/kernel_call.h"

namespace enceladus::cuda {
namespace {

// CUfunction_attribute.
constexpr int kMostThreads = 0;
constexpr int kStaticSharedBytes = 1;
constexpr int kDynamicSharedBytes = 8;

// The compute capability from which on a kernel may start before its predecessor's end.
constexpr int kOverlapping = 9;

constexpr size_t kMessageBytes = 4 * sizeof(uint32_t);
constexpr unsigned kMapped = 2;  // CU_MEMHOSTALLOC_DEVICEMAP

bool text_has(const Artifact& artifact, std::string_view words) {
  for (const auto& [stage, text] : artifact.stages)
    if (stage == "cuda") return text.find(words) != std::string::npos;
  return false;
}

// The kernel may start before the one in front of it in the stream has ended
// (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).
constexpr LaunchAttribute kOverlaps = {.which = 6, .value = {1}};

}  // namespace

uint64_t programs_of(const Launch& launch) {
  return static_cast<uint64_t>(launch.grid[0]) * static_cast<uint64_t>(launch.grid[1]) *
         static_cast<uint64_t>(launch.grid[2]);
}

CudaKernel::CudaKernel(const Context& context, Artifact given)
    : Kernel(std::move(given)), tensor_maps_(artifact()) {
  const Context::Scope scope(context);
  const Driver& driver = context.driver();
  const std::string& name = artifact().kernel;
  waits_itself_ =
      context.attribute(kMajor) >= kOverlapping && text_has(artifact(), "griddepcontrol.wait");
  prints_ = text_has(artifact(), "printf(");
  is_plain_ = artifact().tensor_maps.empty() && !artifact().is_persistent && !has_messages() &&
              !prints_ && artifact().parameters.size() <= KernelCall::kMostArguments;
  if (has_messages()) {
    void* words = nullptr;
    context.check(driver.allocate_host(&words, kMessageBytes, kMapped), "cuMemHostAlloc", name);
    message_words_ = static_cast<uint32_t*>(std::memset(words, 0, kMessageBytes));
  }
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

LaunchConfiguration CudaKernel::configuration(const Launch& launch, StreamHandle stream) const {
  LaunchConfiguration shape{.shared_bytes = static_cast<unsigned>(artifact().shared_bytes),
                            .stream = stream};
  for (size_t axis = 0; axis < 3; ++axis) {
    shape.grid[axis] = static_cast<unsigned>(launch.grid[axis]);
    shape.block[axis] = static_cast<unsigned>(launch.threads[axis]);
  }
  if (launch.threads[0] == 0) {
    shape.block[0] = static_cast<unsigned>(threads_);
    shape.block[1] = shape.block[2] = 1;
  }
  if (artifact().is_persistent) {
    shape.grid[0] = static_cast<unsigned>(
        std::min<uint64_t>(programs_of(launch), static_cast<uint64_t>(resident_programs_)));
    shape.grid[1] = shape.grid[2] = 1;
  }
  if (waits_itself_) {
    shape.attributes = &kOverlaps;
    shape.attribute_count = 1;
  }
  return shape;
}

}  // namespace enceladus::cuda
