#include "runtime/cuda/held_launches.h"

#include <algorithm>
#include <bit>

namespace enceladus::cuda {

KernelCall& HeldLaunches::add() {
  if (count_ == calls_.size()) calls_.emplace_back();
  return calls_[count_++];
}

std::exception_ptr HeldLaunches::submit(StreamHandle stream) {
  std::exception_ptr failure;
  std::span<const KernelCall> rest(calls_.data(), count_);
  while (!rest.empty()) {
    size_t done = submit_chain(rest, stream);
    if (done == 0) {
      if (std::exception_ptr found = submit_one(rest.front()); !failure) failure = found;
      done = 1;
    }
    rest = rest.subspan(done);
  }
  return failure;
}

// How many of the calls one chain took: 0 where none can.
size_t HeldLaunches::submit_chain(std::span<const KernelCall> calls, StreamHandle stream) {
  if (!has_chains_ || calls.size() < kSmallestChain) return 0;
  const size_t length = std::min(std::bit_floor(calls.size()), kSmallestChain << (kChainSizes - 1));
  calls = calls.first(length);
  const KernelChain::Order order = KernelChain::order_of(context_.driver(), calls);
  const auto size = static_cast<size_t>(std::countr_zero(length / kSmallestChain));
  Turns& turns = chains_[static_cast<size_t>(order)][size];
  std::unique_ptr<KernelChain>& chain = choose(turns, calls);
  if (!chain) {
    chain = KernelChain::make(context_.driver(), calls, order);
    has_chains_ = chain != nullptr;
  }
  if (chain && chain->run(calls, stream) == kSuccess) return length;
  chain.reset();  // what its nodes are set to is unknown
  return 0;
}

// One that did much the same last, else one that the device is done with, else a new one, else the
// one that has run longest ago.
std::unique_ptr<KernelChain>& HeldLaunches::choose(Turns& turns,
                                                   std::span<const KernelCall> calls) {
  for (auto& chain : turns.chains)
    if (chain && chain->is_like(calls)) return chain;
  const size_t oldest = turns.next;
  for (size_t i = oldest; i < oldest + kChains; ++i) {
    auto& chain = turns.chains[i % kChains];
    turns.next = (i + 1) % kChains;
    if (!chain || !chain->is_running()) return chain;
  }
  turns.next = (oldest + 1) % kChains;
  return turns.chains[oldest];
}

std::exception_ptr HeldLaunches::submit_one(const KernelCall& call) const {
  try {
    auto arguments = call.pointers();
    context_.check(
        launch_configured(context_.driver(), call.shape, call.function, arguments.data()),
        "cuLaunchKernel", *call.name);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace enceladus::cuda
