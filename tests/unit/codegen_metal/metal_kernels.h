// Kernels of tile IR, compiled to MSL and run by the simulator: what the tests of lowered kernels
// share. Each runs in two schedules, and every report of the simulator fails the test.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/metal/compile_metal.h"
#include "ir/parser.h"
#include "simulator/errors.h"
#include "simulator/simulated_kernel.h"
#include "transforms/tile_passes.h"

namespace enceladus::metal {

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

struct Array {
  std::vector<std::byte> bytes;
  bool is_scalars = false;  // the kernel's packed scalars
  template <typename T>
  static Array of(const std::vector<T>& values) {
    Array array;
    array.bytes.resize(values.size() * sizeof(T));
    std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    return array;
  }
  static Array scalars(const std::vector<int32_t>& values) {
    Array array = of(values);
    array.is_scalars = true;
    return array;
  }
  template <typename T>
  std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

inline std::string kernel(int num_warps, const std::string& parameters, const std::string& body,
                          const std::string& options = "") {
  return "kernel @k(" + parameters + ") {num_warps = " + std::to_string(num_warps) +
         ", math_mode = relaxed, arrays_disjoint, arrays_small" + options + "} {\n" + body + "}\n";
}

inline Artifact compiled(const std::string& text) {
  std::unique_ptr<ir::Function> tile = ir::parse(text);
  transforms::optimize(*tile);
  return compile_metal(*tile);
}

inline std::string msl_of(const std::string& text) { return compiled(text).stages.back().second; }

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
};

// Runs the grid's programs on the arrays; fails the test for every report. `log` takes the lines
// that the kernel prints.
inline void run(const std::string& text, std::vector<Array>& arrays, Grid grid,
                simulator::Schedule schedule, std::vector<std::string>* log = nullptr) {
  Artifact artifact = compiled(text);
  const std::string& msl = artifact.stages.back().second;
  try {
    simulator::CompileOptions options;
    options.language_version = 10 * artifact.language_version;
    auto simulated = simulator::SimulatedKernel::load(msl, artifact.entry, options);
    simulator::LaunchRequest request;
    request.grid = {grid.x, grid.y, grid.z};
    request.threads = {static_cast<uint32_t>(32 * artifact.num_warps), 1, 1};
    request.schedule = schedule;
    request.log = log;
    for (size_t i = 0; i < arrays.size(); ++i) {
      simulator::BoundMemory memory;
      memory.slot = static_cast<uint32_t>(i);
      memory.data = arrays[i].bytes.data();
      memory.bytes = arrays[i].bytes.size();
      memory.read_only = memory.constants = arrays[i].is_scalars;
      request.bindings.push_back(memory);
    }
    for (const simulator::Report& report : simulated.run(request))
      ADD_FAILURE() << simulator::to_string(report) << "\n" << msl;
  } catch (const simulator::SimulatorUnavailable& problem) {
    GTEST_SKIP() << problem.what();
  } catch (const std::exception& problem) {
    FAIL() << problem.what() << "\n" << msl;
  }
}

// Runs from the same arrays in each schedule and hands the results to `check`.
template <typename Check>
void each_schedule(const std::string& text, const std::vector<Array>& initial, Grid grid,
                   const Check& check) {
  for (simulator::Schedule schedule :
       {simulator::Schedule::kInOrder, simulator::Schedule::kReversed}) {
    std::vector<Array> arrays = initial;
    run(text, arrays, grid, schedule);
    if (testing::Test::HasFailure() || testing::Test::IsSkipped()) return;
    check(arrays);
  }
}

inline std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>((i * 37) % 101) - 50.0f;
  return values;
}

}  // namespace enceladus::metal
