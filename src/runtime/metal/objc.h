// The Objective-C runtime from plain C++: functions found in shared objects at run time and methods
// called through exact, non-variadic function types. Nothing of Apple's headers is needed, so the
// same code calls Apple's frameworks and the simulator's. Knows no class of Metal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace enceladus::metal {

using Id = void*;
using Selector = void*;
using Boolean = uint8_t;  // Objective-C's BOOL in memory and in the low bits of a register

struct Selectors {
#define SELECTOR(name, text) Selector name;
#include "runtime/metal/selectors.def"
#undef SELECTOR
};

class Objc {
 public:
  // Opens the shared objects, which stay open. Throws DeviceFailure naming what is missing.
  explicit Objc(std::span<const std::string> libraries);
  Objc(const Objc&) = delete;
  Objc& operator=(const Objc&) = delete;

  // Calls a method. The types must be those of its declaration: spell them out.
  template <class Result, class... Arguments>
  Result send(Id object, Selector selector, std::type_identity_t<Arguments>... arguments) const {
    using Method = Result (*)(Id, Selector, Arguments...);
    return reinterpret_cast<Method>(message_send_)(object, selector, arguments...);
  }
  // Null where there is none of that name.
  Id class_named(const char* name) const { return get_class_(name); }
  // The address of a symbol of the opened objects; null where there is none.
  void* find_symbol(const char* name) const;

  void retain(Id object) const { retain_(object); }
  void release(Id object) const { release_(object); }

  Selectors selectors;

 private:
  friend class Pool;
  void* symbol(const char* name) const;

  std::vector<void*> libraries_;
  Id (*get_class_)(const char*);
  void* message_send_;
  Id (*retain_)(Id);
  void (*release_)(Id);
  void* (*push_pool_)();
  void (*pop_pool_)(void*);
};

// An autorelease pool for the calls in a scope.
class Pool {
 public:
  explicit Pool(const Objc& objc) : objc_(objc), token_(objc.push_pool_()) {}
  ~Pool() { objc_.pop_pool_(token_); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

 private:
  const Objc& objc_;
  void* token_;
};

// Owns one count of an object, or nothing.
class Owned {
 public:
  Owned() = default;
  // Takes over a count that the caller owns: what `new...` methods return.
  static Owned adopt(const Objc& objc, Id object) { return Owned(objc, object); }
  // Takes a count of its own of an autoreleased object.
  static Owned share(const Objc& objc, Id object) {
    if (object) objc.retain(object);
    return Owned(objc, object);
  }
  Owned(Owned&& other) noexcept
      : objc_(other.objc_), object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned other) noexcept {
    std::swap(objc_, other.objc_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_) objc_->release(object_);
  }
  Id get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Gives the count up without releasing it.
  void leak() { object_ = nullptr; }

 private:
  Owned(const Objc& objc, Id object) : objc_(&objc), object_(object) {}
  const Objc* objc_ = nullptr;
  Id object_ = nullptr;
};

// A block (closure) without captures of its own: the literal lives where it is declared, is never
// copied, and hands `context` to the function. As the blocks ABI lays it out.
struct Block {
  struct Descriptor {
    unsigned long reserved = 0;
    unsigned long size = sizeof(Block);
  };
  static const Descriptor kDescriptor;

  Block(const Objc& objc, void* function, void* context);

  void* isa;
  int32_t flags = 1 << 28;  // BLOCK_IS_GLOBAL: copying gives the literal itself
  int32_t reserved = 0;
  void* invoke;
  const Descriptor* descriptor = &kDescriptor;
  void* context;
};

}  // namespace enceladus::metal
