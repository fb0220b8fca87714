// One launch as an encoder has noted it, and how the queue runs it in the simulator.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "simulator/fake_framework/buffer.h"
#include "simulator/fake_framework/command_buffer.h"
#include "simulator/fake_framework/pipeline.h"

namespace enceladus::fake_metal {

// What is bound to one slot: a buffer from an offset on, or bytes that were copied.
struct Binding {
  Object* buffer = nullptr;
  Ref<Buffer> retained;  // only if the command buffer retains
  uint64_t offset = 0;
  uint64_t extent = 0;    // bytes from the offset on that the kernel may touch
  bool is_array = false;  // the extent is an argument's own, told by enceladus_sim_set_extent
  std::vector<std::byte> bytes;

  bool is_bound() const { return buffer != nullptr || !bytes.empty(); }
};

struct Dispatch {
  Object* pipeline = nullptr;
  Ref<Pipeline> retained;                              // only if the command buffer retains
  std::vector<std::pair<uint32_t, Binding>> bindings;  // by slot, those that the kernel takes
  std::vector<simulator::ThreadgroupMemory> threadgroup_memory;
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> threads{};
};

// Runs the kernel. Reports of the simulator are added to the run and make it fail.
std::optional<CommandFailure> run_dispatch(const Dispatch& dispatch, CommandRun& run);

}  // namespace enceladus::fake_metal
