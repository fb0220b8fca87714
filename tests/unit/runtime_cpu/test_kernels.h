// Kernels written in C++ against the CPU ABI, for tests of the runtime without a compiler.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/stream.h"

namespace enceladus::cpu {

// A kernel of `parameters` 64-bit integers.
inline Ref<CpuKernel> make_kernel(CpuEntry entry, int parameters, Artifact artifact = {}) {
  artifact.target = "cpu";
  if (artifact.kernel.empty()) artifact.kernel = "test_kernel";
  artifact.parameters.assign(static_cast<size_t>(parameters),
                             {.name = "p", .dtype = DType::kInt64});
  return Ref<CpuKernel>::adopt(new CpuKernel(std::move(artifact), {entry, nullptr}));
}

inline uint64_t address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// parameters: array of int32. Adds one to the element of each program.
inline void count_programs(const CpuLaunch* launch, int64_t first, int64_t last, void*) {
  auto* counts = reinterpret_cast<int32_t*>(launch->parameters[0]);
  for (int64_t program = first; program < last; ++program) ++counts[program];
}

// parameters: std::vector<uint64_t>, a number to append.
inline void append_number(const CpuLaunch* launch, int64_t, int64_t, void*) {
  reinterpret_cast<std::vector<uint64_t>*>(launch->parameters[0])->push_back(launch->parameters[1]);
}

// parameters: std::atomic<bool>. Returns once it is true.
inline void wait_for_flag(const CpuLaunch* launch, int64_t, int64_t, void*) {
  auto* flag = reinterpret_cast<std::atomic<bool>*>(launch->parameters[0]);
  while (!flag->load()) std::this_thread::yield();
}

// Ends when the launch is abandoned.
inline void wait_for_abandonment(const CpuLaunch* launch, int64_t, int64_t, void*) {
  while (__atomic_load_n(launch->abandoned, __ATOMIC_RELAXED) < launch->ticket)
    std::this_thread::yield();
}

inline void do_nothing(const CpuLaunch*, int64_t, int64_t, void*) {}

// parameters: the kind of failure. Every program fails.
inline void fail(const CpuLaunch* launch, int64_t first, int64_t, void*) {
  const int32_t program[3] = {static_cast<int32_t>(first), 0, 0};
  launch->host->failed(launch->host_context, static_cast<int32_t>(launch->parameters[0]),
                       "kernel.py:3: it does not hold", program);
}

// Its first program prints.
inline void print_grid(const CpuLaunch* launch, int64_t first, int64_t, void*) {
  if (first != 0) return;
  const std::string line = "grid " + std::to_string(launch->grid[0]);
  launch->host->print(launch->host_context, line.data(), static_cast<int64_t>(line.size()));
}

}  // namespace enceladus::cpu
