// Launches that are held back for company, in order, and their way to the driver: as few chains
// (`kernel_chain`) of 4, 8, 16 ... launches as hold them, and the rest one by one. Chains are made
// when a size is first needed. Decides nothing about when: see `burst`. One caller at a time.
#pragma once

#include <array>
#include <exception>
#include <memory>
#include <vector>

#include "runtime/cuda/context.h"
#include "runtime/cuda/kernel_chain.h"

namespace enceladus::cuda {

class HeldLaunches {
 public:
  explicit HeldLaunches(const Context& context) : context_(context) {}

  size_t size() const { return count_; }
  // The next call, to be filled in.
  KernelCall& add();
  // Hands everything over, to be cleared then; the context is current. Returns the first failure,
  // which names its kernel; launches behind a refused one are handed over all the same.
  std::exception_ptr submit(StreamHandle stream);
  void clear() { count_ = 0; }

 private:
  static constexpr size_t kSmallestChain = 4;
  static constexpr size_t kChainSizes = 5;  // 4, 8, 16, 32, 64
  // Chains of one size, so that some can be set while others run.
  static constexpr size_t kChains = 4;
  struct Turns {
    std::array<std::unique_ptr<KernelChain>, kChains> chains;
    size_t next = 0;  // the one that has run longest ago
  };

  static std::unique_ptr<KernelChain>& choose(Turns& turns, std::span<const KernelCall> calls);
  size_t submit_chain(std::span<const KernelCall> calls, StreamHandle stream);
  std::exception_ptr submit_one(const KernelCall& call) const;

  const Context& context_;
  std::vector<KernelCall> calls_;  // the first `count_` are held
  size_t count_ = 0;
  std::array<std::array<Turns, kChainSizes>, 2> chains_;  // by KernelChain::Order and size
  bool has_chains_ = true;                                // until the driver refuses to make one
};

}  // namespace enceladus::cuda
