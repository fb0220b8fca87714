// A graph of kernels one behind the other, made once and then run with other kernels, sizes and
// arguments: the driver launches it as a whole, for a fraction of what its kernels would cost one
// by one. What each node did last is kept, and a node that shall do the same again costs nothing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/cuda/kernel_call.h"

namespace enceladus::cuda {

class KernelChain {
 public:
  // A chain of as many nodes as there are calls, set to do them. Null, with the driver's answer in
  // `problem`, where it makes no such graph. The context must be current in every call.
  static std::unique_ptr<KernelChain> make(const Driver& driver, std::span<const KernelCall> calls,
                                           Result& problem);
  KernelChain(const KernelChain&) = delete;
  KernelChain& operator=(const KernelChain&) = delete;
  ~KernelChain();

  // Queues the calls, as many as the chain has nodes. Where the driver refuses, none was queued.
  Result run(std::span<const KernelCall> calls, StreamHandle stream);
  // Whether the device has not yet passed the last run: setting nodes then costs much more.
  bool is_running();
  // Whether first and last node did the same as these calls, so that few nodes need setting.
  bool is_like(std::span<const KernelCall> calls) const;

 private:
  explicit KernelChain(const Driver& driver) : driver_(driver) {}
  Result build(std::span<const KernelCall> calls);

  struct Node {
    GraphNodeHandle handle = nullptr;
    KernelCall call;
  };
  const Driver& driver_;
  GraphHandle graph_ = nullptr;
  ExecutableGraphHandle executable_ = nullptr;
  std::vector<Node> nodes_;
  EventHandle event_ = nullptr;  // behind the last run
  bool is_pending_ = false;
};

}  // namespace enceladus::cuda
