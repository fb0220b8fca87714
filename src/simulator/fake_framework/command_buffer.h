// MTLCommandBuffer: commands that encoders write and its queue runs after `commit`. A state machine
// whose wrong turns are violations; what fails while it runs becomes its error.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "simulator/fake_framework/blocks.h"
#include "simulator/fake_framework/command_queue.h"
#include "simulator/fake_framework/foundation.h"
#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/log_state.h"
#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

class CommandBufferDescriptor : public Body {
 public:
  static const Class& type();

  bool retained_references = true;
  uint64_t error_options = 0;
  Ref<LogState> log_state;
};

// Codes of MTLCommandBufferErrorDomain.
enum class CommandError : int64_t {
  kInternal = 1,
  kTimeout = 2,
  kPageFault = 3,
  kOutOfMemory = 8,
  kInvalidResource = 9,
  kStackOverflow = 12,
};

struct CommandFailure {
  CommandError code;
  std::string text;
};

// What commands leave behind while a command buffer runs.
struct CommandRun {
  std::vector<LaunchReport> reports;
  std::vector<std::string> log;
  uint64_t launches = 0;
};

// What happens when the queue comes to it; a failure ends the command buffer.
using Command = std::function<std::optional<CommandFailure>(CommandRun&)>;

// What an error tells about one encoder.
class EncoderInfo : public Body {
 public:
  enum State : uint64_t { kUnknown, kCompleted, kAffected, kPending, kFaulted };

  static const Class& type();
  Result signposts(const Message& message);

  std::string label;
  std::vector<std::string> signpost_texts;
  uint64_t state = kUnknown;
};

class CommandBuffer : public Body {
 public:
  enum Status : uint64_t { kNotEnqueued, kEnqueued, kCommitted, kScheduled, kCompleted, kFailed };

  static const Class& type();
  CommandBuffer(Ref<CommandQueue> queue, bool retains, uint64_t error_options,
                Ref<LogState> log_state);
  ~CommandBuffer() override;

  bool retains() const { return retains_; }
  // For encoders: a command of the encoder that is open.
  void add(Command command);
  EncoderInfo& open_info() const { return *encoders_.back(); }
  void end_encoder();
  // The command buffer will not run but end with this error.
  void fail(const std::string& reason) override;
  // For the queue's thread.
  void run();

  Result compute_encoder(const Message& message);
  Result blit_encoder(const Message& message);
  Result signal_event(const Message& message);
  Result wait_for_event(const Message& message);
  Result add_scheduled_handler(const Message& message);
  Result add_completed_handler(const Message& message);
  Result enqueue(const Message& message);
  Result commit(const Message& message);
  Result wait_until_scheduled(const Message& message);
  Result wait_until_completed(const Message& message);
  Result status(const Message& message);
  Result error(const Message& message);
  Result start_time(const Message& message);
  Result end_time(const Message& message);
  Result queue(const Message& message);

  std::string label;

 private:
  struct Step {
    size_t encoder;
    Command command;
  };
  static constexpr size_t kNoEncoder = SIZE_MAX;

  void require_encodable(const char* what) const;
  void open_encoder();
  Block handler_of(const Message& message) const;
  void wait_for(const bool& reached, const char* what);
  std::optional<CommandFailure> run_steps(CommandRun& run);
  void mark_encoders(size_t faulted);
  Ref<Error> make_error(const CommandFailure& failure) const;
  void call_handlers(std::vector<Block>& handlers);

  Ref<CommandQueue> queue_;
  bool retains_;
  bool tells_encoders_;
  Ref<LogState> log_state_;
  bool has_open_encoder_ = false;
  std::vector<Ref<EncoderInfo>> encoders_;
  std::vector<Step> steps_;
  std::vector<Block> scheduled_handlers_, completed_handlers_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status status_ = kNotEnqueued;
  bool is_scheduled_ = false;
  bool is_finished_ = false;           // its handlers have returned, too
  std::optional<std::string> failed_;  // before it ran
  Ref<Error> error_;
  double start_ = 0, end_ = 0;
};

}  // namespace enceladus::fake_metal
