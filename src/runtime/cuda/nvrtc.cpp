#include "runtime/cuda/nvrtc.h"

#include <atomic>
#include <cstdlib>
#include <vector>

#include "runtime/cuda/library.h"

namespace enceladus::cuda {
namespace {

using Program = struct ProgramTag*;

struct Nvrtc {
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const*,
                const char* const*);
  int (*compile)(Program, int count, const char* const* options);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, size_t*);
  int (*cubin)(Program, char*);
  int (*destroy)(Program*);
  const char* (*error_string)(int);
  // Null where NVRTC is older. Called now and then by a compilation, which ends where it answers 1.
  int (*set_callback)(Program, int (*callback)(void* payload, void*), void* payload);
};

template <class Function>
void bind(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(find_symbol(library, symbol));
  if (!function) fail("the NVRTC library is too old: it lacks " + std::string(symbol));
}

Nvrtc load_nvrtc() {
  static constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  std::string problem;
  void* library = load_library(kNames, problem);
  if (!library)
    fail("compiling for CUDA needs NVRTC (libnvrtc.so.13 or .12), which is not here: " + problem +
         ". It comes with the CUDA toolkit and with `pip install nvidia-cuda-nvrtc`");
  Nvrtc table{};
  bind(library, "nvrtcCreateProgram", table.create);
  bind(library, "nvrtcCompileProgram", table.compile);
  bind(library, "nvrtcGetProgramLogSize", table.log_size);
  bind(library, "nvrtcGetProgramLog", table.log);
  bind(library, "nvrtcGetCUBINSize", table.cubin_size);
  bind(library, "nvrtcGetCUBIN", table.cubin);
  bind(library, "nvrtcDestroyProgram", table.destroy);
  bind(library, "nvrtcGetErrorString", table.error_string);
  table.set_callback =
      reinterpret_cast<decltype(table.set_callback)>(find_symbol(library, "nvrtcSetFlowCallback"));
  load_matching(folder_of(reinterpret_cast<const void*>(table.create)), "libnvrtc-builtins.so");
  return table;
}

const Nvrtc& nvrtc() {
  static const Nvrtc* table = new Nvrtc(load_nvrtc());
  return *table;
}

void check(int result, const char* call) {
  if (result != 0) fail(std::string(call) + " answered " + nvrtc().error_string(result));
}

constexpr int kInvalidOption = 5;  // nvrtcResult

struct ProgramOwner {
  Program program = nullptr;
  ~ProgramOwner() {
    if (program) nvrtc().destroy(&program);
  }
};

std::string program_log(Program program) {
  size_t size = 0;
  check(nvrtc().log_size(program, &size), "nvrtcGetProgramLogSize");
  std::string log(size, '\0');
  if (size) check(nvrtc().log(program, log.data()), "nvrtcGetProgramLog");
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

// The number before the last occurrence of `words`; -1 where it does not occur.
int number_before(const std::string& log, const std::string& words) {
  const size_t end = log.rfind(words);
  if (end == std::string::npos) return -1;
  size_t start = end;
  while (start > 0 && log[start - 1] >= '0' && log[start - 1] <= '9') --start;
  return start == end ? -1 : std::atoi(log.c_str() + start);
}

std::atomic<bool> is_warming_over{false};

enum class Purpose : uint8_t { kKernel, kWarming };

CompiledText compile_now(const std::string& text, const std::string& name,
                         const std::string& architecture, Purpose purpose) {
  ProgramOwner owner;
  check(nvrtc().create(&owner.program, text.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  if (purpose == Purpose::kWarming && nvrtc().set_callback)
    nvrtc().set_callback(
        owner.program, [](void*, void*) { return static_cast<int>(is_warming_over.load()); },
        nullptr);
  const std::string target = "--gpu-architecture=" + architecture;
  // Without what kernels do not use (textures, the runtime's functions): a sixth less time for a
  // small kernel. NVRTC before 12.4 does not know the option.
  std::vector<const char*> options = {target.c_str(), "--std=c++17", "--ptxas-options=-v",
                                      "--minimal"};
  auto compile = [&] {
    return nvrtc().compile(owner.program, static_cast<int>(options.size()), options.data());
  };
  int result = compile();
  if (result == kInvalidOption) {
    options.pop_back();
    result = compile();
  }
  CompiledText compiled;
  compiled.log = program_log(owner.program);
  if (result != 0)
    fail("NVRTC refused the text of kernel `" + name + "` (" + nvrtc().error_string(result) +
         "):\n" + compiled.log);
  size_t size = 0;
  check(nvrtc().cubin_size(owner.program, &size), "nvrtcGetCUBINSize");
  compiled.cubin.resize(size);
  check(nvrtc().cubin(owner.program, compiled.cubin.data()), "nvrtcGetCUBIN");
  compiled.registers = number_before(compiled.log, " registers");
  compiled.spills = number_before(compiled.log, " bytes spill stores");
  return compiled;
}

}  // namespace

CompiledText compile_text(const std::string& text, const std::string& name,
                          const std::string& architecture) {
  stop_warming();
  return compile_now(text, name, architecture, Purpose::kKernel);
}

// What our kernels' text is made of, so that what it takes of the library is in memory.
const char* const kWarmingText = R"(
template <int N> __device__ inline void move(float* to, const float* from, bool mask) {
  float4 word = make_float4(0, 0, 0, 0);
  if (mask) word = *(const float4*)from;
  memcpy(to, &word, sizeof(word));
}
extern "C" __global__ void __launch_bounds__(128) warming(const float* x, float* y, int n, int m) {
  __shared__ float shared[128];
  float sums[4] = {};
  for (int i = threadIdx.x * 4; i < n; i += m) {
    float a[4];
    move<4>(a, x + i, i / m < n);
#pragma unroll
    for (int r = 0; r < 4; ++r) sums[r] = sums[r] + a[r] * float(i);
  }
  shared[threadIdx.x] = sums[0] + __shfl_xor_sync(~0u, sums[1], 1);
  __syncthreads();
  float e;
  asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(shared[threadIdx.x ^ 1]));
  if (e > 0) y[threadIdx.x] = fmaxf(e, sums[2]) / sums[3];
})";

void load_compiler() { nvrtc(); }

void warm_compiler(const std::string& architecture) {
  if (!is_warming_over.load())
    compile_now(kWarmingText, "warming", architecture, Purpose::kWarming);
}

void stop_warming() { is_warming_over.store(true); }

void compile_artifact(Artifact& artifact, const std::string& architecture) {
  const std::string* text = nullptr;
  for (const auto& [stage, written] : artifact.stages)
    if (stage == "cuda") text = &written;
  if (!text) fail("the artifact of `" + artifact.kernel + "` has no CUDA text");
  CompiledText compiled = compile_text(*text, artifact.kernel, architecture);
  artifact.binary = std::move(compiled.cubin);
  artifact.registers = compiled.registers;
  artifact.spills = compiled.spills;
}

}  // namespace enceladus::cuda
