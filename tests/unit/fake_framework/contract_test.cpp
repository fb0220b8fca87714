// What Metal's contract forbids is noticed, named and without effect; what a test injects fails.
#include <cstdlib>

#include "metal_host.h"

namespace enceladus::fake_metal {
namespace {

class Contract : public FakeFramework {
 protected:
  // Takes the violations; they must contain the text.
  static void expect_violation(const std::string& text) {
    std::string found = violations();
    EXPECT_NE(found.find(text), std::string::npos) << found << "\n  wanted: " << text;
  }

  // An encoder with a pipeline of kAdd and all slots bound, in a new command buffer.
  Id open_encoder() {
    commands_ = command_buffer();
    Id encoder = send<Id>(commands_, "computeCommandEncoder");
    send<void>(encoder, "setComputePipelineState:", static_cast<Id>(add_));
    set_buffer(encoder, out_, 0);
    set_buffer(encoder, x_, 1);
    set_bytes(encoder, 1.0f, 2);
    return encoder;
  }
  // A violation while encoding fails the command buffer, and the next one is fine.
  void expect_failed(Id encoder, const std::string& text) {
    expect_violation(text);
    end(encoder);
    finish(commands_);
    EXPECT_EQ(status(commands_), 5u);
    EXPECT_NE(error_of(commands_).find(text), std::string::npos) << error_of(commands_);
    Id next = open_encoder();
    dispatch(next, 1, 32);
    end(next);
    finish(commands_);
    EXPECT_EQ(status(commands_), 4u) << error_of(commands_);
  }

  void SetUp() override {
    add_ = pipeline(kAdd);
    out_ = buffer(4096);
    x_ = buffer(4096);
  }
  void TearDown() override {
    add_ = Owned();
    out_ = Owned();
    x_ = Owned();
    FakeFramework::TearDown();
  }

  Owned add_, out_, x_;
  Id commands_ = nullptr;
};

TEST_F(Contract, setBytes_takes_1_to_4096_bytes) {
  Pool pool;
  static const char bytes[5000] = {};
  for (uint64_t length : {uint64_t{0}, uint64_t{4097}}) {
    Id encoder = open_encoder();
    send<void>(encoder, "setBytes:length:atIndex:", static_cast<const void*>(bytes), length,
               uint64_t{2});
    expect_failed(encoder, std::to_string(length) + " bytes, must be 1 to 4096");
  }
}

TEST_F(Contract, slots_are_0_to_30) {
  Pool pool;
  Id encoder = open_encoder();
  set_buffer(encoder, out_, 31);
  expect_failed(encoder, "a buffer at index 31, must be 0 to 30");
}

TEST_F(Contract, no_slot_of_the_kernel_is_left_unbound) {
  Pool pool;
  Id encoder = open_encoder();
  set_buffer(encoder, nullptr, 1);
  dispatch(encoder, 1, 32);
  expect_failed(encoder, "nothing is bound to buffer(1), parameter `x` of the kernel");
}

TEST_F(Contract, bytes_cannot_be_written) {
  Pool pool;
  Id encoder = open_encoder();
  set_bytes(encoder, 1.0f, 0);
  dispatch(encoder, 1, 32);
  expect_failed(encoder, "bytes are bound to buffer(0), parameter `out`");
}

TEST_F(Contract, threads_are_at_most_those_of_the_pipeline) {
  Pool pool;
  Id encoder = open_encoder();
  dispatch(encoder, 1, 1025);
  expect_failed(encoder,
                "threadgroups of 1025 x 1 x 1 threads; the pipeline state allows 1 to 1024");
}

TEST_F(Contract, grids_are_not_empty) {
  Pool pool;
  Id encoder = open_encoder();
  dispatch(encoder, 0, 32);
  expect_failed(encoder, "a grid of 0 x 1 x 1 threadgroups");
}

TEST_F(Contract, threadgroup_lengths_are_multiples_of_16) {
  Pool pool;
  Id encoder = open_encoder();
  send<void>(encoder, "setThreadgroupMemoryLength:atIndex:", uint64_t{40}, uint64_t{0});
  expect_failed(encoder, "40 bytes of threadgroup memory, must be a multiple of 16");
}

TEST_F(Contract, threadgroup_memory_is_32768_bytes_in_all) {
  Pool pool;
  Owned both = pipeline(kMetal + R"(
kernel void k(device float* x [[buffer(0)]], threadgroup float* s [[threadgroup(0)]]) {
  threadgroup float own[4096];
  own[0] = 1;
  s[0] = own[0];
  x[0] = s[0];
})");
  EXPECT_EQ(send<uint64_t>(both, "staticThreadgroupMemoryLength"), 16384u);
  Id encoder = open_encoder();
  send<void>(encoder, "setComputePipelineState:", static_cast<Id>(both));
  send<void>(encoder, "setThreadgroupMemoryLength:atIndex:", uint64_t{16400}, uint64_t{0});
  dispatch(encoder, 1, 1);
  expect_failed(encoder, "32784 bytes of threadgroup memory in all");
}

TEST_F(Contract, too_much_static_threadgroup_memory_is_an_error_of_the_pipeline) {
  Pool pool;
  Owned made = library(kMetal + R"(
kernel void k(device float* x) {
  threadgroup float own[8193];
  own[0] = 1;
  x[0] = own[0];
})");
  Owned function(send<Id>(made, "newFunctionWithName:", text("k")));
  Id error = nullptr;
  Owned none(send<Id>(
      device_, "newComputePipelineStateWithFunction:error:", static_cast<Id>(function), &error));
  EXPECT_EQ(static_cast<Id>(none), nullptr);
  EXPECT_NE(description_of(error).find("exceeds the maximum threadgroup memory allowed"),
            std::string::npos)
      << description_of(error);
}

TEST_F(Contract, wrapped_memory_is_whole_mapped_pages) {
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(16384, 32768));
  auto wrap = [&](void* data, uint64_t length) {
    return Owned(send<Id>(device_, "newBufferWithBytesNoCopy:length:options:deallocator:", data,
                          length, uint64_t{0}, static_cast<void*>(nullptr)));
  };
  EXPECT_NE(static_cast<Id>(wrap(memory, 32768)), nullptr);
  EXPECT_EQ(static_cast<Id>(wrap(memory + 4096, 16384)), nullptr);
  expect_violation("must be multiples of 16384");
  EXPECT_EQ(static_cast<Id>(wrap(memory, 100)), nullptr);
  expect_violation("must be multiples of 16384");
  EXPECT_EQ(static_cast<Id>(wrap(reinterpret_cast<void*>(uintptr_t{1} << 46), 16384)), nullptr);
  std::free(memory);
}

TEST_F(Contract, encoders_and_command_buffers_are_a_state_machine) {
  Pool pool;
  Id encoder = open_encoder();
  send<Id>(commands_, "computeCommandEncoder");
  expect_violation("an encoder while an encoder is open");
  send<void>(commands_, "commit");
  expect_violation("committed while an encoder is open");
  send<void>(commands_, "waitUntilCompleted");
  expect_violation("not committed would never return");
  end(encoder);
  end(encoder);
  expect_violation("the encoder has ended");
  finish(commands_);
  send<void>(commands_, "commit");
  expect_violation("committed twice");
  send<Id>(commands_, "computeCommandEncoder");
  expect_violation("after the command buffer was committed");
}

TEST_F(Contract, an_encoder_is_not_released_while_open) {
  Id commands;
  {
    Pool pool;
    commands = objc_retain(command_buffer());
    send<Id>(commands, "computeCommandEncoder");
  }
  expect_violation("released without endEncoding");
  Pool pool;
  finish(commands);
  EXPECT_EQ(status(commands), 5u);
  objc_release(commands);
}

TEST_F(Contract, all_64_command_buffers_open_would_wait_for_ever) {
  Pool pool;
  for (int i = 0; i < 64; ++i) ASSERT_NE(command_buffer(), nullptr);
  EXPECT_EQ(command_buffer(), nullptr);
  expect_violation("all command buffers of the queue are open");
}

TEST_F(Contract, autorelease_needs_a_pool) {
  Id string = text("leaks");
  expect_violation("autorelease of a NSString on a thread without an autorelease pool");
  objc_release(string);
}

TEST_F(Contract, released_objects_take_no_messages) {
  Id gone = send<Id>(device_, "newBufferWithLength:options:", uint64_t{64}, uint64_t{0});
  objc_release(gone);
  EXPECT_EQ(send<uint64_t>(gone, "length"), 0u);
  expect_violation("a message to a released object: -[MTLBuffer length]");
  objc_release(gone);
  expect_violation("a message to a released object (MTLBuffer): objc_release");
  Pool pool;
  Id encoder = open_encoder();
  set_buffer(encoder, gone, 1);
  expect_failed(encoder, "a released MTLBuffer where a MTLBuffer belongs");
}

TEST_F(Contract, unretained_buffers_outlive_the_command_buffer) {
  Pool pool;
  enceladus_sim_set_delay(20'000);
  finish(command_buffer());
  commands_ = send<Id>(queue_, "commandBufferWithUnretainedReferences");
  Id first = command_buffer();
  send<void>(first, "commit");  // keeps the queue busy while the buffer is released
  Id encoder = send<Id>(commands_, "computeCommandEncoder");
  send<void>(encoder, "setComputePipelineState:", static_cast<Id>(add_));
  set_buffer(encoder, out_, 0);
  set_buffer(encoder, x_, 1);
  set_bytes(encoder, 1.0f, 2);
  dispatch(encoder, 1, 32);
  end(encoder);
  send<void>(commands_, "commit");
  x_ = Owned();
  send<void>(commands_, "waitUntilCompleted");
  EXPECT_EQ(status(commands_), 5u);
  expect_violation("a buffer was released before the command buffer had run");
}

TEST_F(Contract, unknown_selectors_and_classes_name_themselves) {
  send<Id>(device_, "newTextureWithDescriptor:", static_cast<Id>(nullptr));
  expect_violation("-[MTLDevice newTextureWithDescriptor:]: unrecognized selector");
  EXPECT_EQ(send<signed char>(device_, "respondsToSelector:", sel_registerName("name")), 1);
  EXPECT_EQ(send<signed char>(device_, "respondsToSelector:", sel_registerName("names")), 0);
  EXPECT_EQ(objc_getClass("MTLDevice"), nullptr);
  EXPECT_EQ(objc_getClass("MTLTextureDescriptor"), nullptr);
}

TEST_F(Contract, kernels_may_not_write_what_they_declare_const) {
  Pool pool;
  Owned writes = pipeline(kMetal + R"(
kernel void k(device float* out [[buffer(0)]], device const float* x [[buffer(1)]],
              constant float& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = n;
  *(device float*)(x + i) = n;
})");
  Id encoder = open_encoder();
  send<void>(encoder, "setComputePipelineState:", static_cast<Id>(writes));
  dispatch(encoder, 1, 32);
  end(encoder);
  finish(commands_);
  EXPECT_NE(error_of(commands_).find("store to read-only memory"), std::string::npos)
      << error_of(commands_);
}

TEST_F(Contract, injected_failures_happen_once_and_are_named) {
  Pool pool;
  enceladus_sim_inject("newBufferWithLength:options:", 1);
  EXPECT_NE(static_cast<Id>(buffer(64)), nullptr);
  EXPECT_EQ(static_cast<Id>(buffer(64)), nullptr);
  EXPECT_NE(static_cast<Id>(buffer(64)), nullptr);

  enceladus_sim_inject("newLibraryWithSource:options:error:", 0);
  Id error = nullptr;
  EXPECT_EQ(static_cast<Id>(library(kAdd, &error)), nullptr);
  EXPECT_EQ(description_of(error), "a test made newLibraryWithSource:options:error: fail");

  enceladus_sim_inject("MTLCreateSystemDefaultDevice", 0);
  EXPECT_EQ(MTLCreateSystemDefaultDevice(), nullptr);
}

TEST_F(Contract, a_failure_at_each_call_of_encoding_fails_that_command_buffer_alone) {
  for (const char* call :
       {"setComputePipelineState:", "setBuffer:offset:atIndex:", "setBytes:length:atIndex:",
        "endEncoding", "commit", "dispatchThreadgroups:threadsPerThreadgroup:"}) {
    Pool pool;
    enceladus_sim_inject(call, 0);
    for (uint64_t wanted : {5u, 4u}) {
      Id encoder = open_encoder();
      dispatch(encoder, 1, 32);
      end(encoder);
      finish(commands_);
      EXPECT_EQ(status(commands_), wanted) << call << ": " << error_of(commands_);
      if (wanted == 4) continue;
      EXPECT_EQ(error_of(commands_), "a test made " + std::string(call) + " fail");
    }
  }
}

TEST_F(Contract, calls_are_counted_with_whether_they_can_fail) {
  enceladus_sim_reset_calls();
  buffer(64);
  std::string calls = taken(&enceladus_sim_calls);
  EXPECT_NE(
      calls.find(R"("-[MTLDevice newBufferWithLength:options:]": {"calls": 1, "can_fail": true})"),
      std::string::npos)
      << calls;
}

}  // namespace
}  // namespace enceladus::fake_metal
