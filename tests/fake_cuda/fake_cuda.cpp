// The stand-in for libcuda.so.1; see README.md. What happens is chosen by environment variables
// that are read at each call:
//   FAKE_CUDA_VERSION   what cuDriverGetVersion says (13000)
//   FAKE_CUDA_DEVICES   how many devices there are (1); 0 makes cuInit fail with NO_DEVICE
//   FAKE_CUDA_CAPABILITY  10 times the compute capability (90)
//   FAKE_CUDA_MEMORY    bytes of device memory (2^30)
//   FAKE_CUDA_FAIL      "cuLaunchKernel=701": what a call answers from now on
//   FAKE_CUDA_FAULT     "700": what synchronizations answer once a kernel has run
//   FAKE_CUDA_JOURNAL   a file that gets a line for each call that tests look at
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Result = int;
using Pointer = unsigned long long;
constexpr Result kOutOfMemory = 2;
constexpr Result kNoDevice = 100;

// Handles count from here, one a device.
constexpr uintptr_t kFirstContext = 0x1000;
thread_local std::vector<void*> contexts;

struct Allocation {
  size_t bytes;
  int device;
};

struct State {
  std::mutex mutex;
  std::map<Pointer, Allocation> allocations;
  size_t in_use = 0;
  size_t kept = 0;  // freed to the pool
  bool has_run = false;
};
State& state() {
  static auto* instance = new State;
  return *instance;
}

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : otherwise;
}

void note(const std::string& line) {
  const char* path = std::getenv("FAKE_CUDA_JOURNAL");
  if (!path) return;
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

// What the environment wants the call to answer.
Result answer(const char* call) {
  const char* wanted = std::getenv("FAKE_CUDA_FAIL");
  const size_t length = std::strlen(call);
  if (wanted && std::strncmp(wanted, call, length) == 0 && wanted[length] == '=')
    return std::atoi(wanted + length + 1);
  return 0;
}

Result synchronized(const char* call) {
  if (state().has_run)
    if (const long fault = setting("FAKE_CUDA_FAULT", 0)) return static_cast<Result>(fault);
  return answer(call);
}

Result allocate(Pointer* memory, size_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto total = static_cast<size_t>(setting("FAKE_CUDA_MEMORY", 1L << 30));
  if (s.in_use + s.kept + bytes > total) return kOutOfMemory;
  *memory = reinterpret_cast<Pointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(reinterpret_cast<void*>(*memory), 0xAB, bytes);
  const auto context =
      contexts.empty() ? kFirstContext : reinterpret_cast<uintptr_t>(contexts.back());
  s.allocations[*memory] = {bytes, static_cast<int>(context - kFirstContext)};
  s.in_use += bytes;
  return 0;
}

Result release(Pointer memory) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto found = s.allocations.find(memory);
  if (found == s.allocations.end()) return 1;
  s.in_use -= found->second.bytes;
  s.kept += found->second.bytes;
  std::free(reinterpret_cast<void*>(memory));
  s.allocations.erase(found);
  return 0;
}

template <class T>
T argument(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof(T));
  return value;
}

// add_kernel(x, y, out, n) on float32.
void add(void** parameters) {
  const auto* x = argument<const float*>(parameters, 0);
  const auto* y = argument<const float*>(parameters, 1);
  auto* out = argument<float*>(parameters, 2);
  for (int i = 0, n = argument<int>(parameters, 3); i < n; ++i) out[i] = x[i] + y[i];
}

// assert_kernel(x, messages): message 1 failed in program (3, 2, 1).
void fail_assertion(void** parameters) {
  auto* words = argument<uint32_t*>(parameters, 1);
  const uint32_t failed[] = {2, 3, 2, 1};
  std::memcpy(words, failed, sizeof(failed));
}

// append_kernel(log, value) on float32: log[0] counts, log[i] is the i-th value.
void append(void** parameters) {
  auto* log = argument<float*>(parameters, 0);
  log[0] += 1;
  log[static_cast<int>(log[0])] = static_cast<float>(argument<int>(parameters, 1));
}

struct Known {
  const char* name;  // a part of the entry's name
  void (*run)(void** parameters);
  int arguments;
};
constexpr Known kKnown[] = {
    {"add_kernel", add, 4}, {"append_kernel", append, 2}, {"assert_kernel", fail_assertion, 2}};

struct Function {
  std::string name;
  Known known = {"", nullptr, 0};

  explicit Function(const char* entry) : name(entry) {
    for (const Known& candidate : kKnown)
      if (name.find(candidate.name) != std::string::npos) known = candidate;
  }
};

struct LaunchShape {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
};

Result run(const Function& function, const LaunchShape& shape, void* stream, void** parameters) {
  if (const Result failed = answer("cuLaunchKernel")) return failed;
  const auto& [grid, block, shared] = shape;
  note("launch " + function.name + " grid " + std::to_string(grid[0]) + " " +
       std::to_string(grid[1]) + " " + std::to_string(grid[2]) + " threads " +
       std::to_string(block[0]) + " shared " + std::to_string(shared) + " stream " +
       std::to_string(reinterpret_cast<uintptr_t>(stream)));
  if (function.known.run) function.known.run(parameters);
  state().has_run = true;
  return 0;
}

// A chain of kernels, in the order in which the nodes were added.
struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v2
  const Function* function;
  LaunchShape shape;
  void** parameters;
};
struct Node {
  const Function* function = nullptr;
  LaunchShape shape = {};
  std::vector<uint64_t> arguments;

  void set(const KernelNode& given) {
    function = given.function;
    shape = given.shape;
    arguments.clear();
    for (int i = 0; i < function->known.arguments; ++i)
      arguments.push_back(argument<uint64_t>(given.parameters, i));
  }
};
struct Graph {
  std::vector<Node*> nodes;  // an executable graph's nodes are those of its graph
  size_t edges = 0;          // each from a node to the one added behind it
};

}  // namespace

// NVRTC asks for it and goes on without.
EXPORT Result cuGetExportTable(const void**, const void*) { return 801; }

EXPORT Result cuInit(unsigned) {
  note("cuInit");
  return setting("FAKE_CUDA_DEVICES", 1) ? answer("cuInit") : kNoDevice;
}
EXPORT Result cuDriverGetVersion(int* version) {
  *version = static_cast<int>(setting("FAKE_CUDA_VERSION", 13000));
  return 0;
}
EXPORT Result cuGetErrorName(Result error, const char** name) {
  switch (error) {
    case 2:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      return 0;
    case 100:
      *name = "CUDA_ERROR_NO_DEVICE";
      return 0;
    case 700:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      return 0;
    case 701:
      *name = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
      return 0;
    default:
      return 1;
  }
}
EXPORT Result cuGetErrorString(Result, const char** text) {
  *text = "says the fake driver";
  return 0;
}
EXPORT Result cuDeviceGetCount(int* count) {
  *count = static_cast<int>(setting("FAKE_CUDA_DEVICES", 1));
  return 0;
}
EXPORT Result cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
EXPORT Result cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU");
  return 0;
}
EXPORT Result cuDeviceGetAttribute(int* value, int which, int) {
  const std::map<int, int> figures = {{5, 2147483647}, {6, 65535},   {7, 65535}, {16, 132},
                                      {38, 1 << 20},   {97, 232448}, {115, 1},   {39, 2048},
                                      {81, 233472},    {82, 65536},  {106, 32},  {13, 1000000},
                                      {36, 2000000},   {37, 4096}};
  const long capability = setting("FAKE_CUDA_CAPABILITY", 90);
  if (which == 75 || which == 76) {
    *value = static_cast<int>(which == 75 ? capability / 10 : capability % 10);
    return 0;
  }
  const auto found = figures.find(which);
  *value = found == figures.end() ? 0 : found->second;
  return 0;
}
EXPORT Result cuDevicePrimaryCtxRetain(void** context, int device) {
  note("cuDevicePrimaryCtxRetain");
  *context = reinterpret_cast<void*>(kFirstContext + static_cast<uintptr_t>(device));
  return answer("cuDevicePrimaryCtxRetain");
}

EXPORT Result cuCtxGetCurrent(void** context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return 0;
}
EXPORT Result cuCtxSetCurrent(void* context) {
  contexts.assign(1, context);
  return 0;
}
EXPORT Result cuCtxPushCurrent_v2(void* context) {
  contexts.push_back(context);
  return 0;
}
EXPORT Result cuCtxPopCurrent_v2(void** context) {
  *context = contexts.back();
  contexts.pop_back();
  return 0;
}

EXPORT Result cuMemPoolCreate(void** pool, const void*) {
  *pool = &state();
  return 0;
}
EXPORT Result cuMemPoolSetAttribute(void*, int, void*) { return 0; }
EXPORT Result cuMemPoolTrimTo(void*, size_t) {
  note("cuMemPoolTrimTo");
  const std::lock_guard lock(state().mutex);
  state().kept = 0;
  return 0;
}
EXPORT Result cuMemAllocFromPoolAsync(Pointer* memory, size_t bytes, void*, void*) {
  return allocate(memory, bytes);
}
EXPORT Result cuMemFreeAsync(Pointer memory, void*) {
  note("cuMemFreeAsync");
  return release(memory);
}
EXPORT Result cuMemAlloc_v2(Pointer* memory, size_t bytes) { return allocate(memory, bytes); }
EXPORT Result cuMemFree_v2(Pointer memory) { return release(memory); }
EXPORT Result cuMemGetInfo_v2(size_t* free, size_t* total) {
  *total = static_cast<size_t>(setting("FAKE_CUDA_MEMORY", 1L << 30));
  *free = *total - state().in_use;
  return 0;
}
// Knows one attribute, the device's ordinal, and what was allocated here.
EXPORT Result cuPointerGetAttribute(void* value, int attribute, Pointer address) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  auto found = s.allocations.upper_bound(address);
  if (attribute != 9 || found == s.allocations.begin()) return 1;
  const auto& [first, allocation] = *--found;
  if (address >= first + allocation.bytes) return 1;
  *static_cast<int*>(value) = allocation.device;
  return 0;
}
EXPORT Result cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return 0;
}

EXPORT Result cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t bytes, void*) {
  note("to device " + std::to_string(bytes));
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
EXPORT Result cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t bytes, void*) {
  note("to host " + std::to_string(bytes));
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return 0;
}
EXPORT Result cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, void*) {
  note("within " + std::to_string(bytes));
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  return 0;
}
EXPORT Result cuMemsetD8Async(Pointer to, unsigned char value, size_t count, void*) {
  std::memset(reinterpret_cast<void*>(to), value, count);
  return 0;
}
EXPORT Result cuMemsetD16Async(Pointer to, unsigned short value, size_t count, void*) {
  for (size_t i = 0; i < count; ++i) reinterpret_cast<unsigned short*>(to)[i] = value;
  return 0;
}
EXPORT Result cuMemsetD32Async(Pointer to, unsigned value, size_t count, void*) {
  for (size_t i = 0; i < count; ++i) reinterpret_cast<unsigned*>(to)[i] = value;
  return 0;
}

EXPORT Result cuEventCreate(void** event, unsigned) {
  *event = std::malloc(1);
  return 0;
}
EXPORT Result cuEventDestroy_v2(void* event) {
  std::free(event);
  return 0;
}
EXPORT Result cuEventRecord(void*, void* stream) {
  note("event in stream " + std::to_string(reinterpret_cast<uintptr_t>(stream)));
  return answer("cuEventRecord");
}
EXPORT Result cuEventQuery(void*) { return synchronized("cuEventQuery"); }
EXPORT Result cuEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 1.5f;
  return 0;
}
EXPORT Result cuStreamWaitEvent(void* stream, void*, unsigned) {
  note("wait in stream " + std::to_string(reinterpret_cast<uintptr_t>(stream)));
  return 0;
}
EXPORT Result cuStreamSynchronize(void*) {
  note("synchronize");
  return synchronized("cuStreamSynchronize");
}
EXPORT Result cuStreamIsCapturing(void* stream, int* status) {
  *status = reinterpret_cast<uintptr_t>(stream) == 99;  // tests call it so
  return 0;
}

EXPORT Result cuModuleLoadData(void** module, const void*) {
  *module = &state();
  return answer("cuModuleLoadData");
}
EXPORT Result cuModuleGetFunction(void** function, void*, const char* name) {
  *function = new Function(name);
  return 0;
}
EXPORT Result cuFuncGetAttribute(int* value, int which, void*) {
  *value = which == 0 ? 1024 : 0;
  return 0;
}
EXPORT Result cuFuncSetAttribute(void*, int, int) { return 0; }
EXPORT Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, size_t) {
  *blocks = 2;
  return 0;
}
EXPORT Result cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned block,
                             unsigned block_y, unsigned block_z, unsigned shared, void* stream,
                             void** parameters, void**) {
  return run(*static_cast<Function*>(function), {{x, y, z}, {block, block_y, block_z}, shared},
             stream, parameters);
}

EXPORT Result cuGraphCreate(void** graph, unsigned) {
  *graph = new Graph;
  return answer("cuGraphCreate");
}
EXPORT Result cuGraphAddKernelNode_v2(void** node, void* graph, void* const* before, size_t count,
                                      const KernelNode* given) {
  auto& [nodes, edges] = *static_cast<Graph*>(graph);
  if (count && *before != nodes.back()) return 1;  // no chain
  edges += count;
  nodes.push_back(new Node);
  nodes.back()->set(*given);
  *node = nodes.back();
  return answer("cuGraphAddKernelNode");
}
EXPORT Result cuGraphAddDependencies_v2(void* graph, void* const* from, void* const* to,
                                        const unsigned char* edge, size_t count) {
  auto& [nodes, edges] = *static_cast<Graph*>(graph);
  const size_t last = nodes.size() - 1;
  if (count != 1 || *from != nodes[last - 1] || *to != nodes[last]) return 1;
  note("edge of type " + std::to_string(edge[2]) + " from port " + std::to_string(edge[0]));
  ++edges;
  return 0;
}
EXPORT Result cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  if (static_cast<Graph*>(graph)->edges + 1 != static_cast<Graph*>(graph)->nodes.size()) return 1;
  note("instantiate graph of " + std::to_string(static_cast<Graph*>(graph)->nodes.size()));
  *executable = graph;
  return answer("cuGraphInstantiateWithFlags");
}
EXPORT Result cuGraphExecKernelNodeSetParams_v2(void*, void* node, const KernelNode* given) {
  note("set node");
  static_cast<Node*>(node)->set(*given);
  return answer("cuGraphExecKernelNodeSetParams");
}
EXPORT Result cuGraphLaunch(void* executable, void* stream) {
  const auto& nodes = static_cast<Graph*>(executable)->nodes;
  if (const Result failed = answer("cuGraphLaunch")) return failed;
  note("graph of " + std::to_string(nodes.size()) + " in stream " +
       std::to_string(reinterpret_cast<uintptr_t>(stream)));
  for (Node* node : nodes) {
    std::vector<void*> parameters;
    for (uint64_t& value : node->arguments) parameters.push_back(&value);
    if (const Result failed = run(*node->function, node->shape, stream, parameters.data()))
      return failed;
  }
  return 0;
}
EXPORT Result cuGraphExecDestroy(void*) { return 0; }
EXPORT Result cuGraphDestroy(void* graph) {
  for (Node* node : static_cast<Graph*>(graph)->nodes) delete node;
  delete static_cast<Graph*>(graph);
  return 0;
}
EXPORT Result cuThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  std::swap(*mode, current);
  return 0;
}

struct LaunchConfiguration {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  const int* attributes;
  unsigned attribute_count;
};
EXPORT Result cuLaunchKernelEx(const LaunchConfiguration* shape, void* function, void** parameters,
                               void** extra) {
  for (unsigned i = 0; i < shape->attribute_count; ++i)
    note("attribute " + std::to_string(shape->attributes[18 * i]) + " is " +
         std::to_string(shape->attributes[18 * i + 2]));
  return cuLaunchKernel(function, shape->grid[0], shape->grid[1], shape->grid[2], shape->block[0],
                        shape->block[1], shape->block[2], shape->shared_bytes, shape->stream,
                        parameters, extra);
}

// "Encodes" what it was given, so that tests can see it.
EXPORT Result cuTensorMapEncodeTiled(void* map, int element, uint32_t rank, void* address,
                                     const uint64_t* shape, const uint64_t* strides,
                                     const uint32_t* box, const uint32_t*, int, int swizzle,
                                     int promotion, int) {
  note("encode element " + std::to_string(element) + " rank " + std::to_string(rank) + " shape " +
       std::to_string(shape[0]) + " " + std::to_string(shape[1]) + " stride " +
       std::to_string(strides[0]) + " box " + std::to_string(box[0]) + " " +
       std::to_string(box[1]) + " swizzle " + std::to_string(swizzle) + " promotion " +
       std::to_string(promotion));
  std::memset(map, 0, 128);
  std::memcpy(map, &address, sizeof(address));
  return strides[0] % 16 == 0 ? 0 : 1;
}
