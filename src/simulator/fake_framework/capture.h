// MTLCaptureManager: what a host needs to start and stop a capture. A capture here is a folder with
// a text that says so; nothing is recorded.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/fake_framework/foundation.h"
#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

class CaptureDescriptor : public Body {
 public:
  static const Class& type();

  Ref<Body> object;  // a device or a command queue
  uint64_t destination = 1;
  Ref<Url> url;

  Result set_object(const Message& message);
};

class CaptureManager : public Body {
 public:
  static const Class& type();
  static Result shared(Object& self, const Message& message);

  Result supports(const Message& message);
  Result start(const Message& message);
  Result stop(const Message& message);
  Result is_capturing(const Message& message);

 private:
  bool is_capturing_ = false;
};

}  // namespace enceladus::fake_metal
