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
  // Whether each kernel begins behind its predecessor's end, or may start before it: then every
  // call must be one that waits itself.
  enum class Order : uint8_t { kOneByOne, kOverlapping };
  // The best order that the calls and the driver allow.
  static Order order_of(const Driver& driver, std::span<const KernelCall> calls);

  // A chain of as many nodes as there are calls, set to do them. Null where the driver makes no
  // such graph. The context must be current in every call.
  static std::unique_ptr<KernelChain> make(const Driver& driver, std::span<const KernelCall> calls,
                                           Order order);
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
  Result build(std::span<const KernelCall> calls, Order order);
  Result add_node(const KernelCall& call, Order order);

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
