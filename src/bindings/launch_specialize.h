// From classified arguments to compiled code: the table, or, on a miss, JITFunction._specialize.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/launch_arguments.h"
#include "bindings/launch_key.h"
#include "bindings/launch_options.h"
#include "bindings/launch_state.h"

namespace enceladus {

enum class Purpose : uint8_t { kLaunch, kWarmup };

struct CompileRequest {
  const LaunchOptions& options;
  Device& device;
  bool debug;
  Purpose purpose;
};

// `key` holds what arguments.classify wrote.
std::shared_ptr<Specialization> find_or_specialize(PyObject* self, KernelState& kernel,
                                                   const LaunchArguments& arguments, KeyWriter& key,
                                                   const CompileRequest& request);

}  // namespace enceladus
