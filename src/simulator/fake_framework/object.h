// Objects as Objective-C has them, as far as a host program can tell: a pointer to which messages
// are sent, with a class and a count of references. An `Object` is the header that the pointer
// names; what it is made of is its `Body`. The header outlives the body for a while, so that a
// message to a released object is noticed instead of hitting other memory.
//
// A class is a table of methods. A method is a member function of the body that takes a Message.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace enceladus::fake_metal {

class Body;
class Class;

struct SelectorData {
  std::string name;
  uint32_t id;  // dense, from 0
};
using Selector = const SelectorData*;

// The selector of that name, the same pointer each time.
Selector selector_named(std::string_view name);

// The first arguments that do not fit into registers. More than the caller passed may not be read.
struct StackWords {
  uint64_t words[6];
};

struct Object {
  enum State : uint32_t { kAlive = 0x0b1ec7a1, kReleased = 0x0b1ecdea };

  const Class* type;
  std::atomic<uint32_t> state{kAlive};
  bool is_class = false;  // the class itself, to which `alloc` is sent
  std::atomic<int64_t> references{1};
  std::unique_ptr<Body> body;

  explicit Object(const Class* its_type) : type(its_type) {}
  ~Object();
};

// What objc_msgSend was called with, besides the receiver.
struct Message {
  Selector selector;
  std::array<uint64_t, 4> registers;
  double real;  // the first floating-point argument
  const StackWords* stack;

  // The i-th argument among integers and pointers, from 0.
  uint64_t integer(size_t i) const { return i < 4 ? registers[i] : stack->words[i - 4]; }
  Object* object(size_t i) const { return reinterpret_cast<Object*>(integer(i)); }
  template <class T>
  T* pointer(size_t i) const {
    return reinterpret_cast<T*>(integer(i));
  }
  // The i-th MTLSize, where all other arguments fit into registers.
  std::array<uint64_t, 3> size(size_t i) const {
    const uint64_t* words = stack->words + 3 * i;
    return {words[0], words[1], words[2]};
  }
};

// Serves results that are objects, integers and floating-point numbers at once: the convention
// returns the two members in the two registers where a caller looks for either.
struct Result {
  uint64_t integer = 0;
  double real = 0;
};
inline Result give(uint64_t integer) { return {integer, 0}; }
inline Result give(const void* pointer) { return {reinterpret_cast<uint64_t>(pointer), 0}; }
inline Result give_real(double real) { return {0, real}; }
inline constexpr Result kNothing{};

// What a failure that a test injects does to a method.
enum class Failure : uint8_t {
  kNever,          // the method cannot fail
  kNil,            // it gives nil or zero
  kError,          // the same, and an NSError through its last argument
  kCommandBuffer,  // the receiver's command buffer ends with an error
};

struct Method {
  const char* selector;
  Result (*call)(Object&, const Message&);
  Failure failure = Failure::kNever;
};

class Class {
 public:
  struct Entry {
    Method method;
    mutable std::atomic<uint64_t> calls{0};
    explicit Entry(const Method& its_method) : method(its_method) {}
  };
  struct Definition {
    const char* name;
    std::span<const Method> methods;             // besides those of NSObject
    std::span<const Method> class_methods = {};  // besides `alloc` and `new`
    Object* (*allocate)() = nullptr;             // null for what only Metal creates
    bool is_protocol = false;                    // objc_getClass does not find it
  };

  explicit Class(const Definition& definition);

  const char* name() const { return definition_.name; }
  bool is_protocol() const { return definition_.is_protocol; }
  Object* allocate() const { return definition_.allocate ? definition_.allocate() : nullptr; }
  Object* object() const { return &object_; }
  // Null where objects of this class do not understand the selector.
  const Entry* find(const Object& receiver, Selector selector) const;
  const std::deque<Entry>& entries() const { return entries_; }

  mutable std::atomic<int64_t> alive{0};  // objects of this class

 private:
  using Table = std::vector<const Entry*>;  // by selector id
  void add(std::span<const Method> methods, Table& table);

  Definition definition_;
  std::deque<Entry> entries_;
  Table methods_, class_methods_;
  mutable Object object_;
};

// What an object is made of. Bodies are made by `make` only.
class Body {
 public:
  virtual ~Body() = default;
  Object* self() const { return self_; }
  // Notes that something went wrong which must fail the command buffer that this belongs to.
  virtual void fail(const std::string& reason) {}

 private:
  friend void attach(Object* object, std::unique_ptr<Body> body);
  Object* self_ = nullptr;
};

void attach(Object* object, std::unique_ptr<Body> body);

// A new object with one reference, which belongs to the caller.
template <class B, class... Arguments>
Object* make(Arguments&&... arguments) {
  auto* object = new Object(&B::type());
  attach(object, std::make_unique<B>(std::forward<Arguments>(arguments)...));
  B::type().alive.fetch_add(1, std::memory_order_relaxed);
  return object;
}

void retain(Object* object);
// Throws ContractViolation for an object that is released already.
void release(Object* object);
// Releases it when the innermost pool of this thread ends; a violation where there is none.
Object* autorelease(Object* object);

// The body of an object of class B, or null for nil, a released object and one of another class.
template <class B>
B* body_of(Object* object) {
  if (object == nullptr || object->state != Object::kAlive || object->is_class) return nullptr;
  return object->type == &B::type() ? static_cast<B*>(object->body.get()) : nullptr;
}

[[noreturn]] void refuse_argument(const Message& message, size_t index, const char* wanted);

// The same of an argument that must be there.
template <class B>
B& argument(const Message& message, size_t index) {
  B* body = body_of<B>(message.object(index));
  if (body == nullptr) refuse_argument(message, index, B::type().name());
  return *body;
}

// A reference that this code holds itself.
template <class B>
class Ref {
 public:
  Ref() = default;
  explicit Ref(Object* object) : object_(object) { retain(object_); }
  explicit Ref(const B* body) : Ref(body == nullptr ? nullptr : body->self()) {}
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) release(object_);
  }
  // Takes over the reference that `make` gave.
  static Ref take(Object* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

  Object* get() const { return object_; }
  B* operator->() const { return static_cast<B*>(object_->body.get()); }
  B& operator*() const { return *operator->(); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object* object_ = nullptr;
};

namespace detail {
template <class B>
B body_class(Result (B::*)(const Message&));
}

// The entry of a method table for a member function of a body.
template <auto function>
Result call_member(Object& self, const Message& message) {
  using B = decltype(detail::body_class(function));
  return (static_cast<B&>(*self.body).*function)(message);
}
template <auto function>
constexpr Method method(const char* selector, Failure failure = Failure::kNever) {
  return {selector, &call_member<function>, failure};
}

}  // namespace enceladus::fake_metal
