// A small host program for the tests: typed messages as a C++ program sends them to Metal, and the
// steps of a launch.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "simulator/fake_framework/control.h"
#include "simulator/fake_framework/runtime.h"

namespace enceladus::fake_metal {

using Id = Object*;

struct MtlSize {
  uint64_t width, height, depth;
};

// Sends a message through the exact type of its method, as typed objc_msgSend does.
template <class R, class... Arguments>
R send(Id receiver, const char* selector, Arguments... arguments) {
  using Exact = R (*)(Id, Selector, Arguments...);
  // The address goes through a volatile, so that the compiler cannot see that the types differ.
  void* volatile function = reinterpret_cast<void*>(&objc_msgSend);
  return reinterpret_cast<Exact>(function)(receiver, sel_registerName(selector), arguments...);
}

class Pool {
 public:
  Pool() : pool_(objc_autoreleasePoolPush()) {}
  ~Pool() { objc_autoreleasePoolPop(pool_); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

 private:
  void* pool_;
};

// An object with one reference of ours.
class Owned {
 public:
  Owned() = default;
  explicit Owned(Id id) : id_(id) {}
  Owned(Owned&& other) noexcept : id_(std::exchange(other.id_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Owned() { objc_release(id_); }
  operator Id() const { return id_; }

 private:
  Id id_ = nullptr;
};

inline Id text(const char* utf8) {
  return send<Id>(objc_getClass("NSString"), "stringWithUTF8String:", utf8);
}
inline std::string utf8(Id string) { return send<const char*>(string, "UTF8String"); }
inline std::string description_of(Id error) {
  return error == nullptr ? "" : utf8(send<Id>(error, "localizedDescription"));
}

inline std::string taken(int64_t (*take)(char*, int64_t)) {
  std::vector<char> buffer(1 << 20);
  take(buffer.data(), static_cast<int64_t>(buffer.size()));
  return buffer.data();
}
inline std::string violations() { return taken(&enceladus_sim_take_violations); }

// Device, queue and what tests make of them. Every test ends without violations but those it took,
// and without objects that it did not release.
class FakeFramework : public testing::Test {
 protected:
  FakeFramework() {
    before_ = enceladus_sim_live_objects();
    device_ = Owned(MTLCreateSystemDefaultDevice());
    queue_ = Owned(send<Id>(device_, "newCommandQueue"));
  }

  // The queue's thread may hold what it has run for a moment longer.
  static void wait_for_objects(int64_t most) {
    for (int i = 0; i < 1000 && enceladus_sim_live_objects() > most; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void TearDown() override {
    enceladus_sim_clear_injections();
    enceladus_sim_set_schedule(0, 0);
    enceladus_sim_set_watchdog(400'000'000);
    enceladus_sim_set_executes(1);
    enceladus_sim_set_records(1);
    enceladus_sim_set_delay(0);
    queue_ = Owned();
    device_ = Owned();
    EXPECT_EQ(violations(), "[]");
    wait_for_objects(before_);
    EXPECT_EQ(enceladus_sim_live_objects(), before_) << taken(&enceladus_sim_report_objects);
    taken(&enceladus_sim_take_reports);
  }

  Owned library(const std::string& source, Id* error = nullptr, uint64_t version = 3 << 16 | 1) {
    Owned options(send<Id>(objc_getClass("MTLCompileOptions"), "new"));
    send<void>(options, "setLanguageVersion:", version);
    return Owned(send<Id>(device_, "newLibraryWithSource:options:error:", text(source.c_str()),
                          static_cast<Id>(options), error));
  }
  Owned pipeline(const std::string& source, const char* name = "k") {
    Pool pool;
    Id error = nullptr;
    Owned made = library(source, &error);
    if (made == nullptr) ADD_FAILURE() << description_of(error);
    Owned function(send<Id>(made, "newFunctionWithName:", text(name)));
    return Owned(send<Id>(device_, "newComputePipelineStateWithFunction:error:",
                          static_cast<Id>(function), static_cast<Id*>(nullptr)));
  }
  Owned buffer(uint64_t bytes) {
    return Owned(send<Id>(device_, "newBufferWithLength:options:", bytes, uint64_t{0}));
  }
  template <class T>
  static T* contents(Id buffer) {
    return static_cast<T*>(send<void*>(buffer, "contents"));
  }

  Id command_buffer() { return send<Id>(queue_, "commandBuffer"); }
  static void set_buffer(Id encoder, Id buffer, uint64_t slot, uint64_t offset = 0) {
    send<void>(encoder, "setBuffer:offset:atIndex:", buffer, offset, slot);
  }
  template <class T>
  static void set_bytes(Id encoder, const T& value, uint64_t slot) {
    send<void>(encoder, "setBytes:length:atIndex:", static_cast<const void*>(&value),
               uint64_t{sizeof value}, slot);
  }
  static void dispatch(Id encoder, uint64_t grid, uint64_t threads) {
    send<void>(encoder, "dispatchThreadgroups:threadsPerThreadgroup:", MtlSize{grid, 1, 1},
               MtlSize{threads, 1, 1});
  }
  static void end(Id encoder) { send<void>(encoder, "endEncoding"); }
  static void finish(Id command_buffer) {
    send<void>(command_buffer, "commit");
    send<void>(command_buffer, "waitUntilCompleted");
  }
  static uint64_t status(Id command_buffer) { return send<uint64_t>(command_buffer, "status"); }
  static std::string error_of(Id command_buffer) {
    return description_of(send<Id>(command_buffer, "error"));
  }

  int64_t before_ = 0;
  Owned device_;
  Owned queue_;
};

inline const std::string kMetal = "#include <metal_stdlib>\nusing namespace metal;\n";

// out[i] = x[i] + n
inline const std::string kAdd = kMetal + R"(
kernel void k(device float* out [[buffer(0)]], device const float* x [[buffer(1)]],
              constant float& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = x[i] + n;
})";

}  // namespace enceladus::fake_metal
