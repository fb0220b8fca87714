// A Metal device over the simulator's framework, and what its control functions say.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "runtime/metal/device.h"

namespace enceladus::metal {

// Adds `value` to the element of each program; each program has 32 threads.
inline const std::string kAddSource =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Scalars { int value; };\n"
    "kernel void add(device int* x [[buffer(0)]], constant Scalars& s [[buffer(1)]],\n"
    "                uint3 program [[threadgroup_position_in_grid]],\n"
    "                uint lane [[thread_index_in_simdgroup]]) {\n"
    "  if (lane == 0) x[program.x] += s.value;\n"
    "}\n";

inline Artifact add_artifact() {
  Artifact artifact;
  artifact.target = "metal-sim";
  artifact.kernel = artifact.entry = "add";
  artifact.num_warps = 1;
  artifact.language_version = 31;
  artifact.stages = {{"msl", kAddSource}};
  artifact.parameters = {{.name = "x", .is_pointer = true, .is_read = true, .is_written = true},
                         {.name = "value"}};
  return artifact;
}

inline uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

class SimulatedDevice : public ::testing::Test {
 protected:
  SimulatedDevice()
      : device_(DeviceKind::kMetalSim, simulator_framework(ENCELADUS_METAL_SIM)),
        stream_(device_.default_stream()) {}
  ~SimulatedDevice() override {
    control<void>("enceladus_sim_clear_injections");
    control<void>("enceladus_sim_set_executes", int32_t{1});
    control<void>("enceladus_sim_set_delay", int64_t{0});
    char text[4096];
    control<int64_t>("enceladus_sim_take_violations", static_cast<char*>(text),
                     int64_t{sizeof(text)});
    EXPECT_STREQ(text, "[]") << "the host broke Metal's contract";
  }

  template <class Result, class... Arguments>
  Result control(const char* name, Arguments... arguments) {
    void* function = device_.context().objc.find_symbol(name);
    EXPECT_NE(function, nullptr) << name;
    return reinterpret_cast<Result (*)(Arguments...)>(function)(arguments...);
  }

  Ref<Buffer> integers(int64_t count) { return device_.allocate(4 * count, true); }
  static int32_t* values(const Ref<Buffer>& buffer) {
    return static_cast<int32_t*>(buffer->data());
  }

  MetalDevice device_;
  MetalStream& stream_;
};

// A launch of `add` that owns what it points to.
struct AddLaunch {
  AddLaunch(Kernel* kernel, const Ref<Buffer>& buffer, int32_t value, int32_t programs = 1)
      : parameters{address_of(buffer->data()), static_cast<uint64_t>(value)},
        resources{buffer.get()},
        launch{.kernel = kernel,
               .parameters = parameters,
               .grid = {programs, 1, 1},
               .resources = resources} {}
  uint64_t parameters[2];
  Resource* resources[1];
  Launch launch;
};

}  // namespace enceladus::metal
