#include "runtime/metal/api.h"

#include "runtime/common/failure.h"

namespace enceladus::metal {
namespace {

constexpr int64_t kTraceDocument = 2;            // MTLCaptureDestinationGPUTraceDocument
constexpr int64_t kLogLevelDebug = 1;            // MTLLogLevelDebug
constexpr int64_t kLogBytes = int64_t{8} << 20;  // what one command buffer may log

MathMode math_mode_of(const std::string& name) {
  if (name == "fast") return MathMode::kFast;
  return name == "precise" ? MathMode::kSafe : MathMode::kRelaxed;
}

}  // namespace

Id Api::string(const std::string& text) const {
  Id made =
      objc_.send<Id, const char*>(objc_.class_named("NSString"), s_.string_with_utf8, text.c_str());
  if (!made) throw DeviceFailure("metal", "stringWithUTF8String: nil");
  return made;
}

std::string Api::text(Id string) const {
  const char* bytes = string ? objc_.send<const char*>(string, s_.utf8_string) : nullptr;
  return bytes ? bytes : "";
}

Owned Api::make(const char* class_name) const {
  Id type = objc_.class_named(class_name);
  if (!type) return {};
  Owned made = own(objc_.send<Id>(type, s_.make));
  if (!made) throw DeviceFailure("metal", std::string(class_name) + " new: nil");
  return made;
}

std::string Api::error_text(Id error) const {
  if (!error) return "nil without an error";
  return text(objc_.send<Id>(error, s_.localized_description));
}

Owned Api::new_compile_options(const SourceOptions& options) const {
  Owned result = make("MTLCompileOptions");
  const uint64_t version = (static_cast<uint64_t>(options.language_version) / 10 << 16) |
                           static_cast<uint64_t>(options.language_version % 10);
  objc_.send<void, uint64_t>(result.get(), s_.set_language_version, version);
  const MathMode mode = math_mode_of(options.math_mode);
  // macOS 14 and older know two modes only; relaxed needs infinities, so it is not the fast one.
  if (responds(result.get(), s_.set_math_mode))
    objc_.send<void, int64_t>(result.get(), s_.set_math_mode, static_cast<int64_t>(mode));
  else
    objc_.send<void, Boolean>(result.get(), s_.set_fast_math, mode == MathMode::kFast);
  // Which library functions unqualified names mean: precise ones but in the fast mode.
  if (responds(result.get(), s_.set_math_functions))
    objc_.send<void, int64_t>(result.get(), s_.set_math_functions, mode == MathMode::kFast ? 0 : 1);
  if (options.logs) objc_.send<void, Boolean>(result.get(), s_.set_enable_logging, 1);
  return result;
}

Api::Result Api::new_library(Id device, const std::string& source,
                             const SourceOptions& options) const {
  Owned compile_options = new_compile_options(options);
  Id error = nullptr;
  Result result;
  result.object = own(objc_.send<Id, Id, Id, Id*>(device, s_.new_library, string(source),
                                                  compile_options.get(), &error));
  // A library may come with warnings in `error`.
  if (!result.object) result.error = error_text(error);
  result.code = error_code(error);
  return result;
}

Owned Api::new_function(Id library, const std::string& name) const {
  return own(objc_.send<Id, Id>(library, s_.new_function, string(name)));
}

Api::Result Api::new_pipeline(Id device, Id function) const {
  Id error = nullptr;
  Result result;
  result.object = own(objc_.send<Id, Id, Id*>(device, s_.new_pipeline, function, &error));
  if (!result.object) result.error = error_text(error);
  result.code = error_code(error);
  return result;
}

Api::Result Api::new_log_state(Id device, const Block& handler) const {
  Result result;
  Owned descriptor = make("MTLLogStateDescriptor");
  if (!descriptor) {
    result.error = "this macOS has no shader logging; macOS 15 has";
    return result;
  }
  objc_.send<void, int64_t>(descriptor.get(), s_.set_level, kLogLevelDebug);
  objc_.send<void, int64_t>(descriptor.get(), s_.set_buffer_size, kLogBytes);
  Id error = nullptr;
  result.object = own(objc_.send<Id, Id, Id*>(device, s_.new_log_state, descriptor.get(), &error));
  if (!result.object)
    result.error = error_text(error);
  else
    objc_.send<void, const Block*>(result.object.get(), s_.add_log_handler, &handler);
  return result;
}

Owned Api::new_command_buffer_descriptor(Id log_state) const {
  Owned descriptor = make("MTLCommandBufferDescriptor");
  objc_.send<void, Boolean>(descriptor.get(), s_.set_retained_references, 0);
  objc_.send<void, uint64_t>(descriptor.get(), s_.set_error_options, kExecutionStatus);
  if (log_state) objc_.send<void, Id>(descriptor.get(), s_.set_log_state, log_state);
  return descriptor;
}

Id Api::capture_manager() const {
  const Id type = objc_.class_named("MTLCaptureManager");
  return type ? objc_.send<Id>(type, s_.shared_capture_manager) : nullptr;
}

std::string Api::start_capture(Id device, const std::string& path) const {
  const Id manager = capture_manager();
  if (!manager) return "sharedCaptureManager: nil";
  if (!objc_.send<Boolean, int64_t>(manager, s_.supports_destination, kTraceDocument))
    return "this process may not write GPU traces";
  const Owned descriptor = make("MTLCaptureDescriptor");
  const Id url = objc_.send<Id, Id>(objc_.class_named("NSURL"), s_.file_url, string(path));
  if (!descriptor || !url) return "fileURLWithPath: nil";
  objc_.send<void, Id>(descriptor.get(), s_.set_capture_object, device);
  objc_.send<void, int64_t>(descriptor.get(), s_.set_destination, kTraceDocument);
  objc_.send<void, Id>(descriptor.get(), s_.set_output_url, url);
  Id error = nullptr;
  if (objc_.send<Boolean, Id, Id*>(manager, s_.start_capture, descriptor.get(), &error)) return "";
  return "startCaptureWithDescriptor: " + error_text(error);
}

void Api::stop_capture() const {
  if (const Id manager = capture_manager()) objc_.send<void>(manager, s_.stop_capture);
}

}  // namespace enceladus::metal
