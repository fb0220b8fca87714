#include "runtime/cpu/native_kernels.h"

#include <algorithm>
#include <array>

#include "runtime/cpu/buffer.h"
#include "runtime/cpu/kernel.h"

namespace enceladus::cpu {
namespace {

constexpr int64_t kElementsPerProgram = 4096;
constexpr int64_t kLinesBytes = int64_t{1} << 20;     // evicted by one program
constexpr int64_t kEvictedBytes = int64_t{96} << 20;  // several times a core's share of any L3

int32_t programs_for(int64_t count, int64_t each) {
  return static_cast<int32_t>((count + each - 1) / each);
}

// Parameters: data, count, dtype, distribution, seed, offset.
void fill_entry(const CpuLaunch* launch, int64_t first, int64_t last, void*) {
  const uint64_t* parameters = launch->parameters;
  const RandomFill fill{.data = reinterpret_cast<void*>(parameters[0]),
                        .dtype = static_cast<DType>(parameters[2]),
                        .distribution = static_cast<Distribution>(parameters[3]),
                        .seed = parameters[4],
                        .offset = parameters[5]};
  const auto count = static_cast<int64_t>(parameters[1]);
  fill_random(fill, first * kElementsPerProgram, std::min(count, last * kElementsPerProgram));
}

// Parameters: data.
void evict_entry(const CpuLaunch* launch, int64_t first, int64_t last, void*) {
  auto* bytes = reinterpret_cast<volatile char*>(launch->parameters[0]);
  for (int64_t at = first * kLinesBytes; at < last * kLinesBytes; at += 64)
    bytes[at] = static_cast<char>(bytes[at] + 1);
}

Ref<CpuKernel> native_kernel(const char* name, CpuEntry entry, int parameters,
                             double operations_per_program) {
  Artifact artifact;
  artifact.target = "cpu";
  artifact.kernel = name;
  artifact.entry = name;
  artifact.operations_per_program = operations_per_program;
  artifact.parameters.assign(static_cast<size_t>(parameters),
                             {.name = "argument", .dtype = DType::kUInt64});
  return Ref<CpuKernel>::adopt(new CpuKernel(std::move(artifact), {entry, nullptr}));
}

}  // namespace

Ticket enqueue_random_fill(Stream& stream, const RandomFill& fill, int64_t count, Buffer& memory) {
  static CpuKernel* kernel =
      native_kernel("random_fill", &fill_entry, 6, 500.0 * kElementsPerProgram).detach();
  const std::array<uint64_t, 6> parameters = {reinterpret_cast<uint64_t>(fill.data),
                                              static_cast<uint64_t>(count),
                                              static_cast<uint64_t>(fill.dtype),
                                              static_cast<uint64_t>(fill.distribution),
                                              fill.seed,
                                              fill.offset};
  Resource* resources[] = {&memory};
  return stream.enqueue({.kernel = kernel,
                         .parameters = parameters,
                         .grid = {programs_for(count, kElementsPerProgram), 1, 1},
                         .resources = resources});
}

Ticket enqueue_cache_eviction(Stream& stream) {
  static CpuKernel* kernel = native_kernel("evict_caches", &evict_entry, 1, 1e6).detach();
  static CpuBuffer* memory = new CpuBuffer(allocate_memory(kEvictedBytes, /*zeroed=*/true));
  const std::array<uint64_t, 1> parameters = {reinterpret_cast<uint64_t>(memory->data())};
  return stream.enqueue({.kernel = kernel,
                         .parameters = parameters,
                         .grid = {programs_for(kEvictedBytes, kLinesBytes), 1, 1}});
}

}  // namespace enceladus::cpu
