// A compiled kernel of a Metal device: its pipeline and where its parameters go.
#pragma once

#include "runtime/common/kernel.h"
#include "runtime/metal/argument_layout.h"
#include "runtime/metal/context.h"

namespace enceladus::metal {

class MetalStream;

class MetalKernel : public Kernel {
 public:
  MetalKernel(Artifact artifact, MetalStream& stream, Owned pipeline, ArgumentLayout layout,
              uint32_t most_threads);
  ~MetalKernel() override;

  Id pipeline() const { return pipeline_.get(); }
  const ArgumentLayout& layout() const { return layout_; }
  // Of a threadgroup; what the pipeline's registers allow.
  uint32_t most_threads() const { return most_threads_; }

 private:
  MetalStream& stream_;
  Owned pipeline_;
  ArgumentLayout layout_;
  uint32_t most_threads_;
};

// Compiles the artifact's text. On any thread; takes milliseconds. Throws DeviceFailure.
Ref<Kernel> load_kernel(Context& context, MetalStream& stream, Artifact artifact);

}  // namespace enceladus::metal
