// Compiles a function built with ir::Builder, loads it and runs its programs on this thread.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "codegen/cpu/compile_cpu.h"
#include "codegen/cpu/load.h"
#include "ir/builder.h"
#include "support/cpu_abi.h"

namespace enceladus::cpu {

class KernelRunner {
 public:
  explicit KernelRunner(const ir::Function& function)
      : artifact_(compile_cpu(function, {.verify = true}, stopwatch_)),
        code_(load_object(artifact_.binary, artifact_.entry)) {}

  template <typename T>
  KernelRunner& argument(T value) {
    uint64_t slot = 0;
    std::memcpy(&slot, &value, sizeof value);
    slots_.push_back(slot);
    return *this;
  }

  void run(int32_t x, int32_t y = 1, int32_t z = 1) {
    const CpuHost host{.print =
                           [](void* context, const char* text, int64_t length) {
                             static_cast<KernelRunner*>(context)->lines.emplace_back(
                                 text, static_cast<size_t>(length));
                           },
                       .failed =
                           [](void* context, int32_t, const char* message, const int32_t*) {
                             static_cast<KernelRunner*>(context)->failures.emplace_back(message);
                           }};
    const uint64_t none_is_abandoned = 0;
    const CpuLaunch launch{.parameters = slots_.data(),
                           .extents = nullptr,
                           .grid = {x, y, z},
                           .flags = 0,
                           .host = &host,
                           .host_context = this,
                           .abandoned = &none_is_abandoned,
                           .ticket = 1};
    std::vector<char> memory(static_cast<size_t>(128 + artifact_.scratch_bytes));
    auto address = (reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64;
    auto* scratch = reinterpret_cast<CpuScratchHeader*>(address);
    scratch->generation = ++launches_;
    code_.entry(&launch, 0, int64_t{x} * y * z, scratch);
    if (scratch->counted_in != scratch->generation) return;
    scratch->start[0] = 0;
    scratch->start[1] = 1;
    code_.entry(&launch, 0, 0, scratch);
  }

  const Artifact& artifact() const { return artifact_; }
  std::vector<std::string> lines, failures;

 private:
  Stopwatch stopwatch_;
  Artifact artifact_;
  CodeImage code_;
  std::vector<uint64_t> slots_;
  uint64_t launches_ = 0;
};

}  // namespace enceladus::cpu
