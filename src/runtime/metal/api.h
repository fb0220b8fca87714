// Metal's methods as typed functions: the one place that knows their signatures. Each does one
// call; what `new...` gives is owned, what is autoreleased needs a Pool around it. Decides nothing.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/metal/objc.h"

namespace enceladus::metal {

struct Size {  // MTLSize
  uint64_t width, height, depth;
};
struct ByteRange {  // NSRange
  uint64_t location, length;
};

// The numbers of MTLGPUFamily.
enum class Family : int64_t { kApple7 = 1007, kApple10 = 1010, kMetal4 = 5002 };
enum class MathMode : int64_t { kSafe = 0, kRelaxed = 1, kFast = 2 };
inline constexpr uint64_t kStatusError = 5;      // MTLCommandBufferStatusError
inline constexpr int64_t kCodePageFault = 3;     // MTLCommandBufferErrorPageFault
inline constexpr uint64_t kExecutionStatus = 1;  // MTLCommandBufferErrorOptionEncoder...

class Api {
 public:
  explicit Api(const Objc& objc) : objc_(objc), s_(objc.selectors) {}
  const Objc& objc() const { return objc_; }

  Owned own(Id object) const { return Owned::adopt(objc_, object); }
  Id string(const std::string& text) const;  // autoreleased; throws DeviceFailure
  std::string text(Id string) const;         // empty for null
  // Empty where there is no such class; throws DeviceFailure where there is, but no object.
  Owned make(const char* class_name) const;
  bool responds(Id object, Selector selector) const {
    return objc_.send<Boolean, Selector>(object, s_.responds_to, selector);
  }
  // What an NSError says; a remark where it is null.
  std::string error_text(Id error) const;
  int64_t error_code(Id error) const { return error ? objc_.send<int64_t>(error, s_.code) : 0; }

  std::string device_name(Id device) const { return text(objc_.send<Id>(device, s_.name)); }
  bool supports(Id device, int64_t family) const {
    return objc_.send<Boolean, int64_t>(device, s_.supports_family, family);
  }
  uint64_t max_threadgroup_memory(Id device) const {
    return objc_.send<uint64_t>(device, s_.max_threadgroup_memory);
  }
  uint64_t max_buffer_length(Id device) const {
    return objc_.send<uint64_t>(device, s_.max_buffer_length);
  }
  Owned new_command_queue(Id device) const {
    return own(objc_.send<Id>(device, s_.new_command_queue));
  }
  Owned new_shared_event(Id device) const {
    return own(objc_.send<Id>(device, s_.new_shared_event));
  }
  // Shared memory; both are empty where Metal refuses.
  Owned new_buffer(Id device, uint64_t bytes) const {
    return own(objc_.send<Id, uint64_t, uint64_t>(device, s_.new_buffer, bytes, 0));
  }
  Owned new_buffer_no_copy(Id device, void* pages, uint64_t bytes) const {
    return own(objc_.send<Id, void*, uint64_t, uint64_t, void*>(device, s_.new_buffer_no_copy,
                                                                pages, bytes, 0, nullptr));
  }
  void* contents(Id buffer) const { return objc_.send<void*>(buffer, s_.contents); }
  uint64_t length(Id buffer) const { return objc_.send<uint64_t>(buffer, s_.length); }
  uint64_t gpu_address(Id buffer) const { return objc_.send<uint64_t>(buffer, s_.gpu_address); }
  uint64_t signaled_value(Id event) const { return objc_.send<uint64_t>(event, s_.signaled_value); }

  struct Result {
    Owned object;
    std::string error;  // why the object is empty
    int64_t code = 0;
  };
  struct SourceOptions {
    int32_t language_version = 31;
    std::string math_mode = "relaxed";
    bool logs = false;
  };
  Result new_library(Id device, const std::string& source, const SourceOptions& options) const;
  Owned new_function(Id library, const std::string& name) const;
  Result new_pipeline(Id device, Id function) const;
  uint64_t max_total_threads(Id pipeline) const {
    return objc_.send<uint64_t>(pipeline, s_.max_total_threads);
  }
  uint64_t thread_execution_width(Id pipeline) const {
    return objc_.send<uint64_t>(pipeline, s_.thread_execution_width);
  }
  // Lines of os_log go to the handler, `void (Block*, Id, Id, int64_t, Id message)`.
  Result new_log_state(Id device, const Block& handler) const;

  // A descriptor of command buffers that retain nothing; `log_state` may be null.
  Owned new_command_buffer_descriptor(Id log_state) const;
  Id command_buffer(Id queue, Id descriptor) const {
    return objc_.send<Id, Id>(queue, s_.command_buffer, descriptor);
  }
  Id compute_encoder(Id command_buffer) const {
    return objc_.send<Id>(command_buffer, s_.compute_encoder);
  }
  Id blit_encoder(Id command_buffer) const {
    return objc_.send<Id>(command_buffer, s_.blit_encoder);
  }
  void encode_signal(Id command_buffer, Id event, uint64_t value) const {
    objc_.send<void, Id, uint64_t>(command_buffer, s_.encode_signal, event, value);
  }
  // Called with `void (Block*, Id command_buffer)` on a thread of Metal's.
  void add_completed_handler(Id command_buffer, const Block& handler) const {
    objc_.send<void, const Block*>(command_buffer, s_.add_completed_handler, &handler);
  }
  void commit(Id command_buffer) const { objc_.send<void>(command_buffer, s_.commit); }
  uint64_t status(Id command_buffer) const {
    return objc_.send<uint64_t>(command_buffer, s_.status);
  }
  Id error(Id command_buffer) const { return objc_.send<Id>(command_buffer, s_.error); }
  // Nanoseconds of the device's clock.
  int64_t start_time(Id command_buffer) const {
    return nanoseconds(objc_.send<double>(command_buffer, s_.gpu_start_time));
  }
  int64_t end_time(Id command_buffer) const {
    return nanoseconds(objc_.send<double>(command_buffer, s_.gpu_end_time));
  }

  void set_pipeline(Id encoder, Id pipeline) const {
    objc_.send<void, Id>(encoder, s_.set_pipeline, pipeline);
  }
  void set_buffer(Id encoder, Id buffer, uint64_t offset, uint64_t index) const {
    objc_.send<void, Id, uint64_t, uint64_t>(encoder, s_.set_buffer, buffer, offset, index);
  }
  void set_buffer_offset(Id encoder, uint64_t offset, uint64_t index) const {
    objc_.send<void, uint64_t, uint64_t>(encoder, s_.set_buffer_offset, offset, index);
  }
  void set_bytes(Id encoder, const void* bytes, uint64_t length, uint64_t index) const {
    objc_.send<void, const void*, uint64_t, uint64_t>(encoder, s_.set_bytes, bytes, length, index);
  }
  void dispatch(Id encoder, Size threadgroups, Size threads) const {
    objc_.send<void, Size, Size>(encoder, s_.dispatch, threadgroups, threads);
  }
  void fill_buffer(Id encoder, Id buffer, ByteRange range, uint8_t value) const {
    objc_.send<void, Id, ByteRange, uint8_t>(encoder, s_.fill_buffer, buffer, range, value);
  }
  void end_encoding(Id encoder) const { objc_.send<void>(encoder, s_.end_encoding); }

  // Starts recording what the device does into a trace document at a path. Gives why it did not;
  // empty: it does.
  std::string start_capture(Id device, const std::string& path) const;
  void stop_capture() const;

 private:
  Id capture_manager() const;
  static int64_t nanoseconds(double seconds) { return static_cast<int64_t>(seconds * 1e9); }
  Owned new_compile_options(const SourceOptions& options) const;

  const Objc& objc_;
  const Selectors& s_;
};

}  // namespace enceladus::metal
