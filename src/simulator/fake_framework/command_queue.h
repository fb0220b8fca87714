// MTLCommandQueue: runs command buffers in the order of their commits, on a thread of its own, and
// lets at most 64 be open or running at a time.
#pragma once

#include <memory>
#include <string>

#include "simulator/fake_framework/log_state.h"
#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

class CommandBuffer;

class CommandQueueDescriptor : public Body {
 public:
  static const Class& type();

  uint64_t command_buffers = 64;
  Ref<LogState> log_state;
};

class CommandQueue : public Body {
 public:
  static constexpr uint64_t kCommandBuffers = 64;

  static const Class& type();
  CommandQueue(uint64_t command_buffers, Ref<LogState> log_state);
  ~CommandQueue() override;

  // A command buffer takes its place here in this order, whenever it is committed.
  void enqueue(CommandBuffer& buffer);
  // It can run when its turn comes.
  void commit(CommandBuffer& buffer);
  // A command buffer has run, or was given up without being committed.
  void give_back_slot();

  Result command_buffer(const Message& message);
  Result unretained_command_buffer(const Message& message);
  Result command_buffer_with_descriptor(const Message& message);

  std::string label;

 private:
  // Shared with the thread, which may outlive the queue by a moment.
  struct Worker;
  void take_slot();
  Result give_command_buffer(bool retains, uint64_t error_options, Ref<LogState> log_state);
  static void run(std::shared_ptr<Worker> worker);

  Ref<LogState> log_state_;
  std::shared_ptr<Worker> worker_;
};

}  // namespace enceladus::fake_metal
