// The pools of autoreleased objects: a stack for each thread.
#include <vector>

#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/object.h"
#include "simulator/fake_framework/runtime.h"
#include "simulator/fake_framework/time_inside.h"

namespace enceladus::fake_metal {
namespace {

// Objects since a pool began; null marks the beginning of one.
thread_local std::vector<Object*> pooled;

}  // namespace

Object* autorelease(Object* object) {
  if (object == nullptr || object->is_class) return object;
  if (pooled.empty()) {
    Ledger::get().note_violation("autorelease of a " + std::string(object->type->name()) +
                                 " on a thread without an autorelease pool: it leaks");
    return object;
  }
  pooled.push_back(object);
  return object;
}

}  // namespace enceladus::fake_metal

namespace fake = enceladus::fake_metal;

void* objc_autoreleasePoolPush() {
  fake::TimeInside inside;
  fake::pooled.push_back(nullptr);
  return reinterpret_cast<void*>(fake::pooled.size());
}

void objc_autoreleasePoolPop(void* pool) {
  fake::TimeInside inside;
  auto size = reinterpret_cast<size_t>(pool);
  if (size == 0 || size > fake::pooled.size() || fake::pooled[size - 1] != nullptr) {
    fake::Ledger::get().note_violation("objc_autoreleasePoolPop of a pool that has ended already");
    return;
  }
  // Releasing may autorelease further objects: they land in this pool, too.
  while (fake::pooled.size() >= size) {
    fake::Object* object = fake::pooled.back();
    fake::pooled.pop_back();
    if (object == nullptr) continue;  // an inner pool that was never popped ends with this one
    objc_release(object);
  }
}
