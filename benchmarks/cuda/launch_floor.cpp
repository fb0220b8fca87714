// Host time of cuLaunchKernel alone, the floor of every launch path: loads a cubin and launches its
// kernel as benchmarks/cuda/launches.py does. Shares the primary context of the process.
#include <dlfcn.h>

#include <chrono>
#include <cstdint>

namespace {

template <class Function>
Function find(const char* name) {
  static void* library = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function>(dlsym(library, name));
}

double now() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

// Writes microseconds a launch for each of `batches` batches of `count`; 0, or the driver's error.
extern "C" int launch_floor(const void* cubin, const char* entry, uint64_t x, uint64_t y,
                            uint64_t out, int n, int threads, int count, int batches,
                            double* times) {
  const auto load = find<int (*)(void**, const void*)>("cuModuleLoadData");
  const auto function_of = find<int (*)(void**, void*, const char*)>("cuModuleGetFunction");
  const auto launch = find<int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, unsigned, void*, void**, void**)>("cuLaunchKernel");
  const auto synchronize = find<int (*)()>("cuCtxSynchronize");
  void *module = nullptr, *function = nullptr;
  if (int error = load(&module, cubin)) return error;
  if (int error = function_of(&function, module, entry)) return error;
  void* parameters[] = {&x, &y, &out, &n};
  for (int batch = 0; batch < batches; ++batch) {
    const double start = now();
    for (int i = 0; i < count; ++i)
      if (int error = launch(function, 1, 1, 1, static_cast<unsigned>(threads), 1, 1, 0, nullptr,
                             parameters, nullptr))
        return error;
    times[batch] = (now() - start) / count;
    synchronize();
  }
  return 0;
}
