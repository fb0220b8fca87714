// Host time of an asynchronous launch on the Metal runtime, by the simulator's framework: what the
// calling thread spends, less what it spends inside the framework. Kernels are checked and
// forgotten.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/metal/device.h"

using namespace enceladus;

namespace {

constexpr int kLaunches = 2500;  // fewer than may be under way, so that none waits
constexpr int kRounds = 40;

const char* const kSource =
    "#include <metal_stdlib>\n"
    "struct Scalars { int n; };\n"
    "kernel void add(device const float* x [[buffer(0)]], device const float* y [[buffer(1)]],\n"
    "                device float* z [[buffer(2)]], constant Scalars& s [[buffer(3)]],\n"
    "                uint i [[thread_position_in_grid]]) { z[i] = x[i] + y[i]; }\n";

Artifact add_artifact() {
  Artifact artifact;
  artifact.kernel = artifact.entry = "add";
  artifact.language_version = 31;
  artifact.stages = {{"msl", kSource}};
  for (const char* name : {"x", "y", "z"})
    artifact.parameters.push_back({.name = name, .is_pointer = true, .is_written = true});
  artifact.parameters.push_back({.name = "n"});
  return artifact;
}

}  // namespace

int main() {
  metal::MetalDevice device(DeviceKind::kMetalSim, metal::simulator_framework(ENCELADUS_METAL_SIM));
  const metal::Objc& objc = device.context().objc;
  auto inside =
      reinterpret_cast<int64_t (*)()>(objc.find_symbol("enceladus_sim_nanoseconds_inside"));
  reinterpret_cast<void (*)(int32_t)>(objc.find_symbol("enceladus_sim_set_records"))(0);
  const Ref<Kernel> kernel = device.load(add_artifact());
  Ref<Buffer> buffers[3];
  Resource* resources[3];
  uint64_t parameters[4] = {0, 0, 0, 1024};
  for (int i = 0; i < 3; ++i) {
    buffers[i] = device.allocate(4096, true);
    resources[i] = buffers[i].get();
    parameters[i] = reinterpret_cast<uint64_t>(buffers[i]->data());
  }
  const Launch launch{
      .kernel = kernel.get(), .parameters = parameters, .grid = {8, 1, 1}, .resources = resources};
  double best_own = 1e9, best_all = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const int64_t inside_start = inside();
    for (int i = 0; i < kLaunches; ++i)
      if (device.default_stream().try_enqueue(launch) == 0) return 1;
    const int64_t in_framework = inside() - inside_start;
    const double all =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    best_all = std::min(best_all, all / kLaunches);
    best_own = std::min(best_own, (all - static_cast<double>(in_framework)) / kLaunches);
    device.default_stream().synchronize();
  }
  std::printf("asynchronous Metal launch, host: %.0f ns, of which the runtime's own: %.0f ns\n",
              best_all, best_own);
}
