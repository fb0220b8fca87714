// What the CPU can do at best, measured: see enceladus/_ceilings.py, which keeps it.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "bindings/bindings.h"
#ifdef ENCELADUS_HAS_CPU
#include "bindings/interpreter_lock.h"
#include "codegen/cpu/peak_kernel.h"
#include "runtime/cpu/device.h"
#endif

namespace nb = nanobind;

namespace enceladus {
namespace {

// float32 operations a second with every thread at work, a multiply-add as two: the best of some
// launches of a few milliseconds.
double multiply_add_rate() {
#ifdef ENCELADUS_HAS_CPU
  constexpr int kLaunches = 12;
  const InterpreterUnlocked unlocked;
  Device& device = cpu::device();
  Artifact artifact = cpu::make_peak_kernel(cpu::host_target());
  const int programs = 32 * cpu::thread_count();
  const double operations = artifact.operations_per_program * programs;
  const Ref<Kernel> kernel = device.load(std::move(artifact));
  double best = 0;
  for (int i = 0; i < kLaunches; ++i) {
    const auto start = std::chrono::steady_clock::now();
    device.default_stream().run_now({.kernel = kernel.get(), .grid = {programs, 1, 1}});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, operations / seconds.count());
  }
  return best;
#else
  throw std::runtime_error("this build has no CPU target");
#endif
}

}  // namespace

void bind_ceilings(nb::module_& module) {
  module.def("multiply_add_rate", &multiply_add_rate,
             "float32 operations a second of all threads in registers, measured now.");
}

}  // namespace enceladus
