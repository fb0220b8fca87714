// Resource: what a queued launch needs to stay alive (memory, kernels, foreign arrays), counted by
// hand so that a launch costs no atomic traffic: enqueueing stamps the resource with the launch's
// ticket, and a resource whose last owner leaves while that ticket is still pending is retired to
// its stream, which deletes it once the ticket has completed. Not a general shared pointer.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace enceladus {

class Stream;

// Position of a launch in its stream, counted from 1. Zero is "never used".
using Ticket = uint64_t;

class Resource {
 public:
  Resource() = default;
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  virtual ~Resource() = default;

  void retain() { owners_.fetch_add(1, std::memory_order_relaxed); }
  // Deletes the resource, at once or when its last launch has run.
  void release();

  // Called by the stream while it gives out tickets, so in increasing order.
  void mark_used(Stream* stream, Ticket ticket) {
    last_stream_.store(stream, std::memory_order_relaxed);
    last_ticket_.store(ticket, std::memory_order_release);
  }
  Stream* last_stream() const { return last_stream_.load(std::memory_order_relaxed); }
  Ticket last_ticket() const { return last_ticket_.load(std::memory_order_acquire); }

  // Whether others than our launches may work on the memory, ordered by the device's own queue:
  // then launches on it must be in that queue when the enqueueing call returns. Never taken back.
  void expose() { is_exposed_.store(true, std::memory_order_relaxed); }
  bool is_exposed() const { return is_exposed_.load(std::memory_order_relaxed); }

  // Whether the destructor may run on a thread of the runtime's own. False for what belongs to
  // Python, which only host threads delete.
  virtual bool deletes_anywhere() const { return true; }
  // Whether the destructor itself takes effect behind the launches of the last stream, so that it
  // may run while they are pending.
  virtual bool deletes_in_stream_order() const { return false; }

 private:
  std::atomic<int64_t> owners_{1};
  std::atomic<Stream*> last_stream_{nullptr};
  std::atomic<Ticket> last_ticket_{0};
  std::atomic<bool> is_exposed_{false};
};

// Owning pointer to a Resource. Construction from a raw pointer takes over one count.
template <class T>
class Ref {
 public:
  Ref() = default;
  static Ref adopt(T* pointer) { return Ref(pointer); }
  static Ref share(T* pointer) {
    if (pointer) pointer->retain();
    return Ref(pointer);
  }
  Ref(const Ref& other) : Ref(share(other.pointer_)) {}
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <class U>
  Ref(Ref<U>&& other) noexcept : pointer_(other.detach()) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Ref() {
    if (pointer_) pointer_->release();
  }
  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  T* detach() { return std::exchange(pointer_, nullptr); }

 private:
  explicit Ref(T* pointer) : pointer_(pointer) {}
  T* pointer_ = nullptr;
};

}  // namespace enceladus
