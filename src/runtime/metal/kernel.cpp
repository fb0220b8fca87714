#include "runtime/metal/kernel.h"

#include "runtime/common/failure.h"
#include "runtime/metal/source_error.h"
#include "runtime/metal/stream.h"

namespace enceladus::metal {
namespace {

[[noreturn]] void refuse(const Artifact& artifact, const std::string& reason) {
  throw DeviceFailure("metal", "kernel `" + artifact.kernel + "`: " + reason);
}

const std::string& source_of(const Artifact& artifact) {
  for (const auto& [name, text] : artifact.stages)
    if (name == "msl") return text;
  refuse(artifact, "the artifact has no Metal text");
}

void check_logging(const Context& context, const Artifact& artifact) {
  if (artifact.logs && !context.objc.class_named("MTLLogStateDescriptor"))
    refuse(artifact,
           "tl.device_print needs Metal's shader logs, which macOS 15 brings; leave it out "
           "on this system");
}

Owned compile_function(Context& context, const Artifact& artifact) {
  check_logging(context, artifact);
  const std::string& source = source_of(artifact);
  Api::Result library = context.api.new_library(context.device.get(), source,
                                                {.language_version = artifact.language_version,
                                                 .math_mode = artifact.math_mode,
                                                 .logs = artifact.logs});
  if (!library.object)
    refuse(artifact,
           "Metal's compiler refuses the text\n" + explain_source_error(library.error, source));
  Owned function = context.api.new_function(library.object.get(), artifact.entry);
  if (!function) refuse(artifact, "the Metal text has no kernel function `" + artifact.entry + "`");
  return function;
}

void check_limits(const Context& context, const Artifact& artifact, Id pipeline) {
  const uint64_t width = context.api.thread_execution_width(pipeline);
  if (width != kSimdWidth)
    refuse(artifact, "the device has SIMD groups of " + std::to_string(width) + " threads, not " +
                         std::to_string(kSimdWidth));
  if (artifact.shared_bytes > static_cast<int64_t>(context.capabilities.threadgroup_bytes))
    refuse(artifact, "a program needs " + std::to_string(artifact.shared_bytes) +
                         " bytes of threadgroup memory, but the device has " +
                         std::to_string(context.capabilities.threadgroup_bytes));
}

}  // namespace

MetalKernel::MetalKernel(Artifact artifact, MetalStream& stream, Owned pipeline,
                         ArgumentLayout layout, uint32_t most_threads)
    : Kernel(std::move(artifact)),
      stream_(stream),
      pipeline_(std::move(pipeline)),
      layout_(std::move(layout)),
      most_threads_(most_threads) {}

MetalKernel::~MetalKernel() { stream_.release_later(std::move(pipeline_)); }

Ref<Kernel> load_kernel(Context& context, MetalStream& stream, Artifact artifact) {
  const Pool pool(context.objc);
  ArgumentLayout layout = layout_arguments(artifact);
  Owned function = compile_function(context, artifact);
  Api::Result pipeline = context.api.new_pipeline(context.device.get(), function.get());
  if (!pipeline.object)
    refuse(artifact, "newComputePipelineStateWithFunction: " +
                         explain_source_error(pipeline.error, source_of(artifact)));
  check_limits(context, artifact, pipeline.object.get());
  const auto most_threads =
      static_cast<uint32_t>(context.api.max_total_threads(pipeline.object.get()));
  return Ref<Kernel>::adopt(new MetalKernel(std::move(artifact), stream, std::move(pipeline.object),
                                            std::move(layout), most_threads));
}

}  // namespace enceladus::metal
