// Latencies of the CPU queue and worker pool: what a launch costs the host, and an empty parallel
// section, after different times of rest. Medians and 90th percentiles in microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/spin.h"
#include "runtime/cpu/stream.h"
#include "runtime/cpu/worker_pool.h"

namespace enceladus::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

double microseconds_since(Clock::time_point start) {
  return Microseconds(Clock::now() - start).count();
}

void rest(std::chrono::microseconds time) {
  if (time > std::chrono::microseconds(100))
    std::this_thread::sleep_for(time);
  else
    spin_until([] { return false; }, time);
}

template <class Action>
void report(const char* name, Action action) {
  std::printf("%-44s", name);
  for (int gap : {0, 50, 2000, 20000}) {
    std::vector<double> times;
    const int repeats = gap > 10000 ? 50 : gap > 100 ? 200 : 5000;
    for (int i = 0; i < repeats; ++i) {
      rest(std::chrono::microseconds(gap));
      times.push_back(action());
    }
    std::sort(times.begin(), times.end());
    std::printf("  %7.2f (%7.2f)", times[times.size() / 2], times[times.size() * 9 / 10]);
  }
  std::printf("\n");
}

Ref<CpuKernel> empty_kernel(int parameters) {
  Artifact artifact;
  artifact.kernel = "empty";
  artifact.parameters.assign(static_cast<size_t>(parameters), {.name = "p"});
  const CpuEntry entry = [](const CpuLaunch*, int64_t, int64_t, void*) {};
  return Ref<CpuKernel>::adopt(new CpuKernel(artifact, {entry, nullptr}));
}

void measure_pool(int threads) {
  WorkerPool pool(threads);
  report("empty section", [&] {
    const auto start = Clock::now();
    pool.run(threads, [](void*, int64_t, int) {}, nullptr);
    return microseconds_since(start);
  });
}

void measure_queue(int threads) {
  CpuStream stream(threads);
  auto kernel = empty_kernel(4);
  auto first = Ref<Event>::adopt(new Event);
  auto second = Ref<Event>::adopt(new Event);
  auto third = Ref<Event>::adopt(new Event);
  Resource* resources[] = {first.get(), second.get(), third.get()};
  const uint64_t parameters[4] = {};
  const uint64_t extents[8] = {};
  const Launch launch{.kernel = kernel.get(),
                      .parameters = parameters,
                      .extents = extents,
                      .grid = {16, 1, 1},
                      .resources = resources};
  report("enqueue, four parameters, three arrays", [&] {
    const auto start = Clock::now();
    stream.enqueue(launch);
    return microseconds_since(start);
  });
  report("64 enqueued launches, each", [&] {
    const auto start = Clock::now();
    for (int i = 0; i < 64; ++i) stream.enqueue(launch);
    return microseconds_since(start) / 64;
  });
  report("enqueue and synchronize", [&] {
    const auto start = Clock::now();
    stream.enqueue(launch);
    stream.synchronize();
    return microseconds_since(start);
  });
  report("run_now", [&] {
    const auto start = Clock::now();
    stream.run_now(launch);
    return microseconds_since(start);
  });
}

}  // namespace
}  // namespace enceladus::cpu

int main() {
  const int threads = enceladus::cpu::configured_threads();
  std::printf("%d threads; us, median (90th percentile)%8s  %17s  %17s  %17s\n", threads,
              "back to back", "after 50 us", "after 2 ms", "after 20 ms");
  enceladus::cpu::measure_pool(threads);
  enceladus::cpu::measure_queue(threads);
}
