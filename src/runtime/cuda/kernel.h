// A cubin made launchable: its function, limits checked by the device's own figures, and the tensor
// maps that its launches need.
#pragma once

#include <array>
#include <vector>

#include "runtime/common/kernel.h"
#include "runtime/common/stream.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/tensor_maps.h"

namespace enceladus::cuda {

uint64_t programs_of(const Launch& launch);

class CudaKernel : public Kernel {
 public:
  // Throws DeviceFailure when the driver refuses the cubin, and where a program needs more threads
  // or shared memory than the device has.
  CudaKernel(const Context& context, Artifact artifact);

  FunctionHandle function() const { return function_; }
  int threads() const { return threads_; }
  // Programs that the whole device runs at once.
  int resident_programs() const { return resident_programs_; }
  // Whether the kernel itself waits for its predecessor in the stream (griddepcontrol.wait), so
  // that it may be started before that one has ended.
  bool waits_itself() const { return waits_itself_; }
  // Whether a launch may be kept as bytes (KernelCall): its arguments are its parameters alone, and
  // few, and it has nothing to say.
  bool is_plain() const { return is_plain_; }
  // What the driver is to be asked for.
  LaunchConfiguration configuration(const Launch& launch, StreamHandle stream) const;
  TensorMapCache& tensor_maps() { return tensor_maps_; }
  bool has_messages() const { return !artifact().messages.empty(); }
  // What the kernel reports to, four words of the host's memory that the device writes; null where
  // it reports nothing. See Artifact::messages.
  uint32_t* message_words() const { return message_words_; }
  // Whether it may print, which the driver shows when somebody waits for it.
  bool prints() const { return prints_; }

 private:
  void check_limits(const Context& context) const;

  // None is ever given back: a graph that a framework captured may still launch the kernel.
  ModuleHandle module_ = nullptr;
  uint32_t* message_words_ = nullptr;
  FunctionHandle function_ = nullptr;
  int threads_ = 0;
  int resident_programs_ = 0;
  bool waits_itself_ = false;
  bool prints_ = false;
  bool is_plain_ = false;
  TensorMapCache tensor_maps_;
};

}  // namespace enceladus::cuda
