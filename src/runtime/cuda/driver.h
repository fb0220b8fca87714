// The CUDA driver, loaded with dlopen: its few types that we use and a table of its functions,
// declared here so that building needs nothing of CUDA. No state of ours; see `context.h`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace enceladus::cuda {

using Result = int;  // CUresult
using DeviceHandle = int;
using DevicePointer = unsigned long long;
using ContextHandle = struct CUctx_st*;
using StreamHandle = struct CUstream_st*;
using EventHandle = struct CUevent_st*;
using ModuleHandle = struct CUmod_st*;
using FunctionHandle = struct CUfunc_st*;
using GraphHandle = struct CUgraph_st*;
using GraphNodeHandle = struct CUgraphNode_st*;
using ExecutableGraphHandle = struct CUgraphExec_st*;
using PoolHandle = struct CUmemPoolHandle_st*;

struct PoolProperties {     // CUmemPoolProps
  int allocation_type = 1;  // pinned, as device memory is
  int handle_types = 0;
  struct {
    int type = 1;  // a device
    int id = 0;
  } location;
  void* security_attributes = nullptr;
  size_t max_size = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};

struct LaunchAttribute {  // CUlaunchAttribute
  int which = 0;
  int padding = 0;
  int value[16] = {};
};

struct LaunchConfiguration {  // CUlaunchConfig
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  const LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v2
  FunctionHandle function = nullptr;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;
  ContextHandle context = nullptr;
};

struct GraphEdge {  // CUgraphEdgeData
  unsigned char from_port = 0;
  unsigned char to_port = 0;
  unsigned char type = 0;
  unsigned char reserved[5] = {};
};
// The later kernel may start before the earlier one's end, and waits for it itself.
inline constexpr GraphEdge kEarlyStart = {.from_port = 1, .type = 1};

inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNotInitialized = 3;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kNotReady = 600;
inline constexpr unsigned kWithoutTiming = 2;  // CU_EVENT_DISABLE_TIMING

// The default stream, in order with every blocking stream of the context. The value 0 means the
// same, but not where a library was compiled for per-thread default streams.
inline const StreamHandle kLegacyStream = reinterpret_cast<StreamHandle>(uintptr_t{1});

struct Driver {
#define ENC_DRIVER_FUNCTION(member, symbol, ...) \
  using member##_type = __VA_ARGS__;             \
  member##_type* member = nullptr;
#include "runtime/cuda/driver_functions.def"
#undef ENC_DRIVER_FUNCTION
};

// Loads and initializes the driver once. Throws DeviceFailure that says what is missing: no
// library, one too old (which function), no device, or cuInit's answer. After a fork of an
// initialized process it throws too: CUDA does not survive one.
const Driver& driver();
// Whether `driver` has succeeded in this process, and no fork came since.
bool is_driver_usable();

// "CUDA_ERROR_INVALID_VALUE (invalid argument)".
std::string error_text(const Driver& driver, Result result);

}  // namespace enceladus::cuda
