#include "simulator/fake_framework/capture.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "simulator/fake_framework/command_queue.h"
#include "simulator/fake_framework/device.h"
#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/property.h"

namespace enceladus::fake_metal {
namespace {

constexpr const char* kDomain = "MTLCaptureErrorDomain";
constexpr uint64_t kTraceFile = 2;  // MTLCaptureDestinationGPUTraceDocument

bool is_enabled() {
  const char* value = std::getenv("MTL_CAPTURE_ENABLED");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

const Class& CaptureDescriptor::type() {
  using Self = CaptureDescriptor;
  static constexpr Method kMethods[] = {
      method<&Self::set_object>("setCaptureObject:"),
      getter<&Self::destination>("destination"),
      setter<&Self::destination>("setDestination:"),
      getter<&Self::url>("outputURL"),
      setter<&Self::url>("setOutputURL:"),
  };
  static const Class& type =
      *new Class({.name = "MTLCaptureDescriptor", .methods = kMethods, .allocate = [] {
                    return make<CaptureDescriptor>();
                  }});
  return type;
}

Result CaptureDescriptor::set_object(const Message& message) {
  if (body_of<Device>(message.object(0)) == nullptr) argument<CommandQueue>(message, 0);
  object = Ref<Body>(message.object(0));
  return kNothing;
}

const Class& CaptureManager::type() {
  static constexpr Method kMethods[] = {
      method<&CaptureManager::supports>("supportsDestination:"),
      method<&CaptureManager::start>("startCaptureWithDescriptor:error:", Failure::kError),
      method<&CaptureManager::stop>("stopCapture"),
      method<&CaptureManager::is_capturing>("isCapturing"),
  };
  static constexpr Method kClassMethods[] = {{"sharedCaptureManager", &CaptureManager::shared}};
  static const Class& type = *new Class(
      {.name = "MTLCaptureManager", .methods = kMethods, .class_methods = kClassMethods});
  return type;
}

Result CaptureManager::shared(Object&, const Message&) {
  static Object* manager = make<CaptureManager>();
  return give(manager);
}

Result CaptureManager::supports(const Message& message) {
  return give(uint64_t{message.integer(0) == kTraceFile && is_enabled()});
}

Result CaptureManager::start(const Message& message) {
  auto& descriptor = argument<CaptureDescriptor>(message, 0);
  auto refuse = [&](int64_t code, const std::string& text) {
    write_error(message, 1, kDomain, code, text);
    return kNothing;
  };
  constexpr int64_t kNotSupported = 1, kAlreadyCapturing = 2, kInvalidDescriptor = 3;
  if (!is_enabled()) {
    return refuse(kNotSupported, "Capturing is not supported: MTL_CAPTURE_ENABLED is not set");
  }
  if (is_capturing_) return refuse(kAlreadyCapturing, "Already capturing");
  if (!descriptor.object || descriptor.destination != kTraceFile || !descriptor.url) {
    return refuse(kInvalidDescriptor, "a capture needs an object, a trace file and its URL");
  }
  std::filesystem::path folder = descriptor.url->path();
  if (std::filesystem::exists(folder)) {
    return refuse(kInvalidDescriptor, "the output URL exists already: " + folder.string());
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return refuse(kInvalidDescriptor, folder.string() + ": " + error.message());
  std::ofstream(folder / "README.txt") << "A capture of the Metal simulator: it records nothing.\n";
  is_capturing_ = true;
  return give(uint64_t{1});
}

Result CaptureManager::stop(const Message&) {
  if (!is_capturing_) throw ContractViolation("there is no capture to stop");
  is_capturing_ = false;
  return kNothing;
}

Result CaptureManager::is_capturing(const Message&) { return give(uint64_t{is_capturing_}); }

}  // namespace enceladus::fake_metal
