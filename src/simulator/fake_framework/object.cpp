#include "simulator/fake_framework/object.h"

#include <mutex>
#include <unordered_map>

#include "simulator/fake_framework/foundation.h"
#include "simulator/fake_framework/ledger.h"

namespace enceladus::fake_metal {
namespace {

struct Selectors {
  std::mutex mutex;
  std::deque<SelectorData> all;
  std::unordered_map<std::string_view, Selector> by_name;
};

Selectors& selectors() {
  static Selectors& selectors = *new Selectors;
  return selectors;
}

// Headers of released objects, the oldest of which are given back to the allocator.
class Graveyard {
 public:
  void bury(Object* object) {
    std::lock_guard lock(mutex_);
    buried_.push_back(object);
    if (buried_.size() <= kKept) return;
    delete buried_.front();
    buried_.pop_front();
  }

 private:
  static constexpr size_t kKept = 1 << 16;
  std::mutex mutex_;
  std::deque<Object*> buried_;
};

Graveyard& graveyard() {
  static Graveyard& graveyard = *new Graveyard;
  return graveyard;
}

Result retain_method(Object& self, const Message&) {
  retain(&self);
  return give(&self);
}
Result release_method(Object& self, const Message&) {
  release(&self);
  return kNothing;
}
Result autorelease_method(Object& self, const Message&) { return give(autorelease(&self)); }
Result retain_count(Object& self, const Message&) {
  return give(static_cast<uint64_t>(self.references));
}
Result class_method(Object& self, const Message&) { return give(self.type->object()); }
Result identity(Object& self, const Message&) { return give(&self); }
Result hash(Object& self, const Message&) { return give(&self); }
Result is_equal(Object& self, const Message& message) {
  return give(uint64_t{&self == message.object(0)});
}
Result responds(Object& self, const Message& message) {
  return give(uint64_t{self.type->find(self, message.pointer<const SelectorData>(0)) != nullptr});
}
Result is_kind_of(Object& self, const Message& message) {
  return give(uint64_t{self.type->object() == message.object(0)});
}
Result description(Object& self, const Message&) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<void*>(&self));
  return give(autorelease(
      make<String>("<" + std::string(self.type->name()) + ": " + std::string(address) + ">")));
}

constexpr Method kObjectMethods[] = {
    {"retain", retain_method},
    {"release", release_method},
    {"autorelease", autorelease_method},
    {"retainCount", retain_count},
    {"class", class_method},
    {"self", identity},
    {"init", identity},
    {"hash", hash},
    {"isEqual:", is_equal},
    {"respondsToSelector:", responds},
    {"isKindOfClass:", is_kind_of},
    {"isMemberOfClass:", is_kind_of},
    {"description", description},
    {"debugDescription", description},
};

Result allocate(Object& self, const Message& message) {
  Object* object = self.type->allocate();
  if (object == nullptr) {
    throw ContractViolation("objects of this class are made by Metal alone, not by " +
                            message.selector->name);
  }
  return give(object);
}

constexpr Method kClassMethods[] = {
    {"alloc", allocate, Failure::kNil},
    {"new", allocate, Failure::kNil},
    {"class", identity},
    {"self", identity},
    {"retain", identity},
    {"release", identity},
    {"autorelease", identity},
    {"respondsToSelector:", responds},
    {"description", description},
};

}  // namespace

Selector selector_named(std::string_view name) {
  Selectors& known = selectors();
  std::lock_guard lock(known.mutex);
  if (auto found = known.by_name.find(name); found != known.by_name.end()) return found->second;
  auto id = static_cast<uint32_t>(known.all.size());
  Selector made = &known.all.emplace_back(SelectorData{std::string(name), id});
  known.by_name.emplace(made->name, made);
  return made;
}

Object::~Object() = default;

Class::Class(const Definition& definition) : definition_(definition), object_(this) {
  object_.is_class = true;
  add(kObjectMethods, methods_);
  add(definition.methods, methods_);
  add(kClassMethods, class_methods_);
  add(definition.class_methods, class_methods_);
}

void Class::add(std::span<const Method> methods, Table& table) {
  for (const Method& method : methods) {
    uint32_t id = selector_named(method.selector)->id;
    if (id >= table.size()) table.resize(id + 1);
    table[id] = &entries_.emplace_back(method);
  }
}

const Class::Entry* Class::find(const Object& receiver, Selector selector) const {
  const Table& table = receiver.is_class ? class_methods_ : methods_;
  return selector->id < table.size() ? table[selector->id] : nullptr;
}

void attach(Object* object, std::unique_ptr<Body> body) {
  body->self_ = object;
  object->body = std::move(body);
}

void retain(Object* object) {
  if (object == nullptr || object->is_class) return;
  object->references.fetch_add(1, std::memory_order_relaxed);
}

void release(Object* object) {
  if (object == nullptr || object->is_class) return;
  if (object->state != Object::kAlive) {
    throw ContractViolation("release of a " + std::string(object->type->name()) +
                            " that is released already");
  }
  if (object->references.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  object->state = Object::kReleased;
  object->type->alive.fetch_sub(1, std::memory_order_relaxed);
  object->body.reset();
  graveyard().bury(object);
}

void refuse_argument(const Message& message, size_t index, const char* wanted) {
  Object* object = message.object(index);
  std::string text = "argument " + std::to_string(index + 1) + " is ";
  if (object == nullptr) {
    text += "nil";
  } else if (object->state == Object::kReleased) {
    text += "a released " + std::string(object->type->name());
  } else if (object->state == Object::kAlive) {
    text += "of class " + std::string(object->type->name());
  } else {
    text += "no object";
  }
  throw ContractViolation(text + " where a " + wanted + " belongs");
}

}  // namespace enceladus::fake_metal
