// MTLComputeCommandEncoder: notes pipeline, bindings and launches, and checks each launch against
// what the kernel takes.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "simulator/fake_framework/command_buffer.h"
#include "simulator/fake_framework/dispatch.h"
#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

class ComputeEncoder : public Body {
 public:
  static constexpr size_t kSlots = 31;
  static constexpr uint64_t kMostBytes = 4096;  // of setBytes

  static const Class& type();
  explicit ComputeEncoder(Ref<CommandBuffer> buffer) : buffer_(std::move(buffer)) {}
  ~ComputeEncoder() override;
  void fail(const std::string& reason) override { buffer_->fail(reason); }

  // Narrows what the kernel may touch of a bound buffer to that many bytes from its offset on.
  void set_extent(uint64_t slot, uint64_t bytes);

  Result set_pipeline(const Message& message);
  Result set_buffer(const Message& message);
  Result set_buffer_offset(const Message& message);
  Result set_buffers(const Message& message);
  Result set_bytes(const Message& message);
  Result set_threadgroup_memory(const Message& message);
  Result dispatch_threadgroups(const Message& message);
  Result dispatch_threads(const Message& message);
  Result use_resource(const Message& message);
  Result memory_barrier(const Message& message);
  Result memory_barrier_of_resources(const Message& message);
  Result insert_signpost(const Message& message);
  Result push_group(const Message& message);
  Result pop_group(const Message& message);
  Result set_label(const Message& message);
  Result end_encoding(const Message& message);

 private:
  using Size = std::array<uint64_t, 3>;

  void require_open() const;
  Binding& slot(uint64_t index, const char* what);
  void bind(uint64_t index, Object* buffer, uint64_t offset);
  void dispatch(const Size& grid, const Size& threads);
  void check_threads(const Pipeline& pipeline, const Size& threads) const;
  void collect_bindings(const Pipeline& pipeline, Dispatch& launch) const;
  void check_binding(const simulator::KernelParameter& parameter, const Binding& binding) const;

  Ref<CommandBuffer> buffer_;
  bool is_open_ = true;
  Object* pipeline_ = nullptr;
  Ref<Pipeline> retained_pipeline_;
  std::array<Binding, kSlots> slots_;
  std::map<uint32_t, uint64_t> threadgroup_bytes_;
  int open_groups_ = 0;
};

}  // namespace enceladus::fake_metal
