#include "simulator/fake_framework/runtime.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>

#include "simulator/fake_framework/classes.h"
#include "simulator/fake_framework/device.h"
#include "simulator/fake_framework/foundation.h"
#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/time_inside.h"

namespace fake = enceladus::fake_metal;

namespace enceladus::fake_metal {
namespace {

std::string call_name(const Object& self, Selector selector) {
  return std::string(self.is_class ? "+[" : "-[") + self.type->name() + " " + selector->name + "]";
}

void note_violation(Object& self, Selector selector, const std::string& text) {
  std::string sentence = call_name(self, selector) + ": " + text;
  Ledger::get().note_violation(sentence);
  if (self.body != nullptr) self.body->fail(sentence);
}

size_t argument_count(Selector selector) {
  size_t count = 0;
  for (char letter : selector->name) count += letter == ':' ? 1 : 0;
  return count;
}

// Whether the method must not run, since what was injected takes its place.
bool fails_instead(Object& self, const Method& method, const Message& message,
                   const std::string& text) {
  switch (method.failure) {
    case Failure::kNever:
      Ledger::get().note_violation("a failure was injected into " +
                                   call_name(self, message.selector) + ", which cannot fail");
      return false;
    case Failure::kNil:
      return true;
    case Failure::kError:
      write_error(message, argument_count(message.selector) - 1, kInjectedDomain, 1, text);
      return true;
    case Failure::kCommandBuffer:
      self.body->fail(text);
      return false;
  }
  return false;
}

Result send(Object& self, const Message& message) {
  const Class::Entry* entry = self.type->find(self, message.selector);
  if (entry == nullptr) throw ContractViolation("unrecognized selector");
  entry->calls.fetch_add(1, std::memory_order_relaxed);
  std::optional<std::string> injected = Ledger::get().take_injection(message.selector->name);
  if (injected && fails_instead(self, entry->method, message, *injected)) return kNothing;
  return entry->method.call(self, message);
}

// What a message to such an address can be said to be about, or null where it is fine.
const char* problem_of(const Object* object) {
  if (object->state == Object::kAlive) return nullptr;
  return object->state == Object::kReleased ? "a message to a released object"
                                            : "a message to what is no object";
}

Result send_checked(Object* self, const Message& message) {
  if (self == nullptr) return kNothing;  // as Objective-C defines it
  if (const char* problem = problem_of(self)) {
    std::string type = self->state == Object::kReleased ? self->type->name() : "?";
    Ledger::get().note_violation(std::string(problem) + ": -[" + type + " " +
                                 message.selector->name + "]");
    return kNothing;
  }
  try {
    return send(*self, message);
  } catch (const std::exception& error) {
    note_violation(*self, message.selector, error.what());
    return kNothing;
  }
}

Object* counted_device(const char* function) {
  Ledger::get().count_function(function);
  if (Ledger::get().take_injection(function)) return nullptr;
  Object* device = Device::shared();
  retain(device);
  return device;
}

}  // namespace
}  // namespace enceladus::fake_metal

// The words of the stack may lie in the caller's own frame: they are read on demand only.
__attribute__((no_sanitize("address"))) fake::Result objc_msgSend(Object* self, Selector selector,
                                                                  uint64_t a, uint64_t b,
                                                                  uint64_t c, uint64_t d,
                                                                  double real,
                                                                  fake::StackWords stack) {
  fake::TimeInside inside;
  return fake::send_checked(self, {selector, {a, b, c, d}, real, &stack});
}

Object* objc_getClass(const char* name) { return fake::class_named(name); }
Object* objc_lookUpClass(const char* name) { return fake::class_named(name); }
Selector sel_registerName(const char* name) { return fake::selector_named(name); }
const char* sel_getName(Selector selector) { return selector->name.c_str(); }
Object* object_getClass(Object* object) {
  return object == nullptr ? nullptr : object->type->object();
}
const char* object_getClassName(Object* object) {
  return object == nullptr ? "nil" : object->type->name();
}
const char* class_getName(Object* type) { return type == nullptr ? "nil" : type->type->name(); }

Object* objc_retain(Object* object) {
  fake::TimeInside inside;
  if (object == nullptr) return nullptr;
  if (const char* problem = fake::problem_of(object)) {
    fake::Ledger::get().note_violation(std::string(problem) + ": objc_retain");
    return object;
  }
  fake::retain(object);
  return object;
}

void objc_release(Object* object) {
  fake::TimeInside inside;
  if (object == nullptr) return;
  try {
    if (const char* problem = fake::problem_of(object)) {
      std::string type = object->state == Object::kReleased ? object->type->name() : "?";
      throw fake::ContractViolation(std::string(problem) + " (" + type + "): objc_release");
    }
    fake::release(object);
  } catch (const std::exception& error) {
    fake::Ledger::get().note_violation(error.what());
  }
}

Object* objc_autorelease(Object* object) { return fake::autorelease(object); }

Object* MTLCreateSystemDefaultDevice() { return fake::counted_device(__func__); }

Object* MTLCopyAllDevices() {
  Object* device = fake::counted_device(__func__);
  std::vector<fake::Ref<fake::Body>> all;
  if (device != nullptr) all.push_back(fake::Ref<fake::Body>::take(device));
  return fake::make<fake::Array>(std::move(all));
}
