// What the driver itself can do, the floor of every launch path: host and device time of one small
// kernel launched many times, by the ways there are. Shares the primary context of the process;
// called from benchmarks/cuda/launches.py. The device's time is that of work queued behind a gate
// which the host opens once everything is queued, so that no launch waits for the host.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace {

using Handle = void*;

template <class Function>
Function find(const char* name) {
  static Handle library = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function>(dlsym(library, name));
}

double now() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Attribute {  // CUlaunchAttribute
  int which;
  int padding;
  int value[16];
};

struct Configuration {  // CUlaunchConfig
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Handle stream;
  const Attribute* attributes;
  unsigned attribute_count;
};

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v2
  Handle function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void** parameters;
  void** extra;
  Handle kernel;
  Handle context;
};

struct EdgeData {  // CUgraphEdgeData
  unsigned char from_port;
  unsigned char to_port;
  unsigned char type;
  unsigned char reserved[5];
};

constexpr Attribute kOverlaps = {6, 0, {1}};  // programmatic stream serialization
constexpr EdgeData kProgrammatic = {1, 0, 1, {}};
const Handle kStream = nullptr;

#define DRIVER(name, ...) const auto name = find<int (*)(__VA_ARGS__)>("cu" #name)
#define DRIVER_AS(name, symbol, ...) const auto name = find<int (*)(__VA_ARGS__)>(symbol)
#define TRY(call) \
  if (const int error = (call)) return error

// The stream's gate: a word of host memory for which the stream waits.
class Gate {
 public:
  int make() {
    DRIVER(MemHostAlloc, void**, size_t, unsigned);
    DRIVER_AS(device_pointer, "cuMemHostGetDevicePointer_v2", uint64_t*, void*, unsigned);
    void* memory = nullptr;
    TRY(MemHostAlloc(&memory, 4, 2));
    TRY(device_pointer(&address_, memory, 0));
    word_ = static_cast<volatile uint32_t*>(memory);
    return 0;
  }
  int close() {
    DRIVER_AS(wait, "cuStreamWaitValue32_v2", Handle, uint64_t, uint32_t, unsigned);
    *word_ = 0;
    return wait(kStream, address_, 1, 0);
  }
  void open() { *word_ = 1; }

 private:
  volatile uint32_t* word_ = nullptr;
  uint64_t address_ = 0;
};

struct Work {
  Handle function = nullptr;
  unsigned threads = 0;
  std::vector<void*> arguments;
  uint64_t x = 0, y = 0, out = 0;
  int n = 0;
};

// A chain of nodes, with edges that let a kernel start early where `overlaps`.
struct Chain {
  Handle graph = nullptr, executable = nullptr;
  std::vector<Handle> nodes;

  int make(const Work& work, int length, bool overlaps) {
    DRIVER(GraphCreate, Handle*, unsigned);
    DRIVER_AS(add, "cuGraphAddKernelNode_v2", Handle*, Handle, const Handle*, size_t,
              const KernelNode*);
    DRIVER_AS(connect, "cuGraphAddDependencies_v2", Handle, const Handle*, const Handle*,
              const EdgeData*, size_t);
    DRIVER_AS(instantiate, "cuGraphInstantiateWithFlags", Handle*, Handle, unsigned long long);
    if (overlaps && !connect) return 500;
    TRY(GraphCreate(&graph, 0));
    const KernelNode node = of(work);
    for (int i = 0; i < length; ++i) {
      Handle made = nullptr;
      const bool is_plain = i > 0 && !overlaps;
      TRY(add(&made, graph, is_plain ? &nodes.back() : nullptr, is_plain, &node));
      if (i > 0 && overlaps) TRY(connect(graph, &nodes.back(), &made, &kProgrammatic, 1));
      nodes.push_back(made);
    }
    return instantiate(&executable, graph, 0);
  }
  static KernelNode of(const Work& work) {
    return {work.function,
            {1, 1, 1},
            {work.threads, 1, 1},
            0,
            const_cast<void**>(work.arguments.data()),
            nullptr,
            nullptr,
            nullptr};
  }
  int set_all(const Work& work) const {
    DRIVER_AS(set, "cuGraphExecKernelNodeSetParams_v2", Handle, Handle, const KernelNode*);
    const KernelNode node = of(work);
    for (const Handle each : nodes) TRY(set(executable, each, &node));
    return 0;
  }
  int launch() const {
    DRIVER(GraphLaunch, Handle, Handle);
    return GraphLaunch(executable, kStream);
  }
};

Work work;

int one_by_one(int count) {
  DRIVER(LaunchKernel, Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
         Handle, void**, void**);
  for (int i = 0; i < count; ++i)
    TRY(LaunchKernel(work.function, 1, 1, 1, work.threads, 1, 1, 0, kStream, work.arguments.data(),
                     nullptr));
  return 0;
}

// Kernels that wait for their predecessor themselves start before its end.
int overlapping(int count) {
  DRIVER(LaunchKernelEx, const Configuration*, Handle, void**, void**);
  const Configuration shape = {{1, 1, 1}, {work.threads, 1, 1}, 0, kStream, &kOverlaps, 1};
  for (int i = 0; i < count; ++i)
    TRY(LaunchKernelEx(&shape, work.function, work.arguments.data(), nullptr));
  return 0;
}

// `batch` queues `launches` launches.
template <class Batch>
int measure(int launches, Gate& gate, const Batch& batch, double* host, double* device) {
  DRIVER(CtxSynchronize);
  DRIVER(EventCreate, Handle*, unsigned);
  DRIVER(EventRecord, Handle, Handle);
  DRIVER_AS(elapsed, "cuEventElapsedTime", float*, Handle, Handle);
  constexpr int kRounds = 60;
  std::vector<double> found;
  for (int round = 0; round < kRounds; ++round) {
    TRY(CtxSynchronize());
    const double start = now();
    TRY(batch());
    if (round >= 10) found.push_back((now() - start) / launches);
  }
  *host = median(found);
  found.clear();
  Handle start = nullptr, end = nullptr;
  TRY(EventCreate(&start, 0));
  TRY(EventCreate(&end, 0));
  const int batches = std::max(1, 512 / launches);
  for (int round = 0; round < 9; ++round) {
    TRY(CtxSynchronize());
    TRY(gate.close());
    TRY(EventRecord(start, kStream));
    for (int i = 0; i < batches; ++i) TRY(batch());
    TRY(EventRecord(end, kStream));
    gate.open();
    TRY(CtxSynchronize());
    float milliseconds = 0;
    TRY(elapsed(&milliseconds, start, end));
    found.push_back(milliseconds * 1e3 / launches / batches);
  }
  *device = median(found);
  return 0;
}

}  // namespace

// The kernel that is launched from now on; 0, or the driver's error.
extern "C" int launch_prepare(const void* cubin, const char* entry, uint64_t x, uint64_t y,
                              uint64_t out, int n, int threads) {
  DRIVER(ModuleLoadData, Handle*, const void*);
  DRIVER(ModuleGetFunction, Handle*, Handle, const char*);
  Handle module = nullptr;
  work = {nullptr, static_cast<unsigned>(threads), {}, x, y, out, n};
  work.arguments = {&work.x, &work.y, &work.out, &work.n};
  TRY(ModuleLoadData(&module, cubin));
  return ModuleGetFunction(&work.function, module, entry);
}

// Microseconds of one of `count` launches.
extern "C" double launch_burst(int count) {
  const double start = now();
  if (one_by_one(count)) return -1;
  return (now() - start) / count;
}

// Ways to launch, in the order of launches.py's names. Writes microseconds a launch, host and
// device, for one of them in bursts of `count`; 0, or the driver's error.
extern "C" int launch_floor(int count, int way, double* times) {
  Gate gate;
  TRY(gate.make());
  if (way == 0) return measure(count, gate, [&] { return one_by_one(count); }, times, times + 1);
  if (way == 1) return measure(count, gate, [&] { return overlapping(count); }, times, times + 1);
  // A graph: launched again as it is, or with every node set before; one that takes turns with
  // others; with edges that overlap; of one kernel alone.
  const bool is_set = way != 2, overlaps = way == 6, is_single = way == 7;
  const int length = is_single ? 1 : count;
  std::vector<Chain> chains(way == 4 ? 2 : way == 5 ? 4 : is_single ? 8 : 1);
  for (Chain& chain : chains) TRY(chain.make(work, length, overlaps));
  const int n = work.n;
  int turn = 0;
  const int result = measure(
      count, gate,
      [&] {
        for (int i = 0; i < count; i += length) {
          const Chain& chain = chains[static_cast<size_t>(turn++) % chains.size()];
          work.n = n - turn % 7;  // so that setting it changes something
          if (is_set) TRY(chain.set_all(work));
          TRY(chain.launch());
        }
        return 0;
      },
      times, times + 1);
  work.n = n;
  return result;
}
