// A host program's way through the stand-in: kernels run, results arrive, errors are Metal's.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "metal_host.h"

namespace enceladus::fake_metal {
namespace {

// A block without captured variables, as clang lays it out.
template <class... Arguments>
struct GlobalBlock {
  void* isa = &_NSConcreteGlobalBlock;
  int32_t flags = 1 << 28;
  int32_t reserved = 0;
  void (*invoke)(GlobalBlock*, Arguments...) = nullptr;
  const uint64_t* descriptor = kDescriptor;

  static constexpr uint64_t kDescriptor[2] = {0, 32};  // reserved, size
};

TEST_F(FakeFramework, runs_a_kernel_and_signals_an_event) {
  Pool pool;
  Owned add = pipeline(kAdd);
  Owned out = buffer(256), x = buffer(256);
  Owned event(send<Id>(device_, "newSharedEvent"));
  for (int i = 0; i < 64; ++i) contents<float>(x)[i] = static_cast<float>(i);
  Id commands = command_buffer();
  Id encoder = send<Id>(commands, "computeCommandEncoder");
  send<void>(encoder, "setComputePipelineState:", static_cast<Id>(add));
  set_buffer(encoder, out, 0);
  set_buffer(encoder, x, 1);
  set_bytes(encoder, 10.0f, 2);
  dispatch(encoder, 2, 32);
  end(encoder);
  send<void>(commands, "encodeSignalEvent:value:", static_cast<Id>(event), uint64_t{7});
  finish(commands);
  EXPECT_EQ(status(commands), 4u) << error_of(commands);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(contents<float>(out)[i], 10.0f + static_cast<float>(i));
  EXPECT_EQ(send<uint64_t>(event, "signaledValue"), 7u);
  EXPECT_GT(send<double>(commands, "GPUEndTime"), send<double>(commands, "GPUStartTime"));
}

TEST_F(FakeFramework, offsets_select_parts_of_one_buffer) {
  Pool pool;
  Owned add = pipeline(kAdd);
  Owned memory = buffer(512);
  for (int i = 0; i < 128; ++i) contents<float>(memory)[i] = 1;
  Id commands = command_buffer();
  Id encoder = send<Id>(commands, "computeCommandEncoder");
  send<void>(encoder, "setComputePipelineState:", static_cast<Id>(add));
  set_buffer(encoder, memory, 0, 256);
  set_buffer(encoder, memory, 1);
  set_bytes(encoder, 1.0f, 2);
  dispatch(encoder, 1, 32);
  send<void>(encoder, "setBufferOffset:atIndex:", uint64_t{384}, uint64_t{0});
  dispatch(encoder, 1, 32);
  end(encoder);
  finish(commands);
  EXPECT_EQ(status(commands), 4u) << error_of(commands);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(contents<float>(memory)[i], i < 64 ? 1 : 2) << i;
}

TEST_F(FakeFramework, completes_asynchronously_and_calls_handlers_before_waiters) {
  static std::atomic<bool> called;
  static std::thread::id caller;
  called = false;
  static GlobalBlock<Id> handler{.invoke = [](GlobalBlock<Id>*, Id commands) {
    caller = std::this_thread::get_id();
    EXPECT_EQ(status(commands), 4u);
    called = true;
  }};
  enceladus_sim_set_delay(20'000);
  Pool pool;
  Id commands = command_buffer();
  send<void>(commands, "addCompletedHandler:", static_cast<void*>(&handler));
  send<void>(commands, "commit");
  EXPECT_FALSE(called);
  EXPECT_LT(status(commands), 4u);
  send<void>(commands, "waitUntilCompleted");
  EXPECT_TRUE(called);
  EXPECT_NE(caller, std::this_thread::get_id());
}

TEST_F(FakeFramework, command_buffers_run_in_order_and_at_most_64_at_a_time) {
  enceladus_sim_set_delay(1'000);
  Owned event(send<Id>(device_, "newSharedEvent"));
  for (uint64_t i = 1; i <= 80; ++i) {
    Pool pool;
    Id commands = command_buffer();
    send<void>(commands, "encodeSignalEvent:value:", static_cast<Id>(event), i);
    send<void>(commands, "commit");
    if (i == 80) {
      EXPECT_GE(send<uint64_t>(event, "signaledValue"), 80u - 64u);
      send<void>(commands, "waitUntilCompleted");
    }
  }
  EXPECT_EQ(send<uint64_t>(event, "signaledValue"), 80u);
}

TEST_F(FakeFramework, reports_fail_the_command_buffer_and_those_after_it_run) {
  Pool pool;
  Owned add = pipeline(kAdd);
  Owned out = buffer(128), x = buffer(256);
  Owned event(send<Id>(device_, "newSharedEvent"));
  auto launch = [&](uint64_t grid) {
    Id commands = command_buffer();
    send<void>(commands, "setLabel:", text("sums"));
    Id encoder = send<Id>(commands, "computeCommandEncoder");
    send<void>(encoder, "setComputePipelineState:", static_cast<Id>(add));
    set_buffer(encoder, out, 0);
    set_buffer(encoder, x, 1);
    set_bytes(encoder, 1.0f, 2);
    dispatch(encoder, grid, 32);
    end(encoder);
    send<void>(commands, "encodeSignalEvent:value:", static_cast<Id>(event), grid);
    finish(commands);
    return commands;
  };
  Id failed = launch(2);
  EXPECT_EQ(status(failed), 5u);
  EXPECT_EQ(send<int64_t>(send<Id>(failed, "error"), "code"), 3);
  EXPECT_NE(error_of(failed).find("line 6"), std::string::npos) << error_of(failed);
  EXPECT_EQ(send<uint64_t>(event, "signaledValue"), 0u);
  std::string reports = taken(&enceladus_sim_take_reports);
  EXPECT_NE(reports.find("\"kind\": \"out of bounds\""), std::string::npos) << reports;
  EXPECT_NE(reports.find("\"command_buffer\": \"sums\""), std::string::npos) << reports;
  EXPECT_EQ(status(launch(1)), 4u);
  EXPECT_EQ(send<uint64_t>(event, "signaledValue"), 1u);
}

TEST_F(FakeFramework, bounds_can_be_narrower_than_the_buffer) {
  Pool pool;
  Owned add = pipeline(kAdd);
  auto* pages = static_cast<std::byte*>(std::aligned_alloc(16384, 16384));
  Owned out(send<Id>(
      device_, "newBufferWithBytesNoCopy:length:options:deallocator:", static_cast<void*>(pages),
      uint64_t{16384}, uint64_t{0}, static_cast<void*>(nullptr)));
  Id commands = command_buffer();
  Id encoder = send<Id>(commands, "computeCommandEncoder");
  send<void>(encoder, "setComputePipelineState:", static_cast<Id>(add));
  set_buffer(encoder, out, 0);
  set_buffer(encoder, out, 1, 8192);
  enceladus_sim_set_extent(encoder, 0, 120);
  set_bytes(encoder, 1.0f, 2);
  dispatch(encoder, 1, 32);
  end(encoder);
  finish(commands);
  EXPECT_EQ(status(commands), 5u);
  EXPECT_NE(error_of(commands).find("`out` (buffer 0), which has 120 bytes"), std::string::npos)
      << error_of(commands);
  out = Owned();
  std::free(pages);
}

TEST_F(FakeFramework, errors_of_msl_have_the_shape_of_apples_compiler) {
  Pool pool;
  Id error = nullptr;
  Owned none = library(kMetal + "kernel void k(device float* x) {\n  x[0] = y;\n}\n", &error);
  EXPECT_EQ(static_cast<Id>(none), nullptr);
  EXPECT_EQ(utf8(send<Id>(error, "domain")), "MTLLibraryErrorDomain");
  EXPECT_NE(description_of(error).find("program_source:4:10: error: use of undeclared"),
            std::string::npos)
      << description_of(error);
}

TEST_F(FakeFramework, function_constants_get_their_values) {
  Pool pool;
  Owned made = library(kMetal + R"(
constant int factor [[function_constant(0)]];
constant float other [[function_constant(1)]];
constant float shift = is_function_constant_defined(other) ? other : 0.5f;
kernel void k(device float* x, uint i [[thread_position_in_grid]]) { x[i] = i * factor + shift; })");
  Owned values(send<Id>(objc_getClass("MTLFunctionConstantValues"), "new"));
  Id error = nullptr;
  int32_t three = 3;
  send<void>(values, "setConstantValue:type:atIndex:", static_cast<const void*>(&three),
             uint64_t{29}, uint64_t{0});
  Owned function(send<Id>(made, "newFunctionWithName:constantValues:error:", text("k"),
                          static_cast<Id>(values), &error));
  Owned state(send<Id>(
      device_, "newComputePipelineStateWithFunction:error:", static_cast<Id>(function), &error));
  ASSERT_NE(static_cast<Id>(state), nullptr) << description_of(error);
  Owned x = buffer(128);
  Id commands = command_buffer();
  Id encoder = send<Id>(commands, "computeCommandEncoder");
  send<void>(encoder, "setComputePipelineState:", static_cast<Id>(state));
  set_buffer(encoder, x, 0);
  dispatch(encoder, 1, 32);
  end(encoder);
  finish(commands);
  EXPECT_EQ(status(commands), 4u) << error_of(commands);
  EXPECT_EQ(contents<float>(x)[5], 15.5f);

  Owned plain(send<Id>(made, "newFunctionWithName:", text("k")));
  Owned none(send<Id>(device_, "newComputePipelineStateWithFunction:error:", static_cast<Id>(plain),
                      &error));
  EXPECT_NE(description_of(error).find("`factor` (index 0) has no value"), std::string::npos)
      << description_of(error);
}

TEST_F(FakeFramework, log_lines_reach_the_handlers_of_the_log_state) {
  static std::vector<std::string> lines;
  lines.clear();
  static GlobalBlock<Id, Id, int64_t, Id> handler{
      .invoke = [](auto*, Id, Id, int64_t, Id line) { lines.push_back(utf8(line)); }};
  Pool pool;
  Owned options(send<Id>(objc_getClass("MTLCompileOptions"), "new"));
  send<void>(options, "setLanguageVersion:", uint64_t{3 << 16 | 2});
  send<void>(options, "setEnableLogging:", static_cast<signed char>(1));
  Owned made(send<Id>(device_, "newLibraryWithSource:options:error:",
                      text((kMetal + "#include <metal_logging>\n"
                                     "kernel void k(uint i [[thread_position_in_grid]]) {\n"
                                     "  if (i == 3) os_log_default.log(\"i is %d\", i);\n}\n")
                               .c_str()),
                      static_cast<Id>(options), static_cast<Id*>(nullptr)));
  Owned function(send<Id>(made, "newFunctionWithName:", text("k")));
  Owned state(send<Id>(device_, "newComputePipelineStateWithFunction:error:",
                       static_cast<Id>(function), static_cast<Id*>(nullptr)));
  Owned log_descriptor(send<Id>(objc_getClass("MTLLogStateDescriptor"), "new"));
  Owned log(send<Id>(device_, "newLogStateWithDescriptor:error:", static_cast<Id>(log_descriptor),
                     static_cast<Id*>(nullptr)));
  send<void>(log, "addLogHandler:", static_cast<void*>(&handler));
  Owned descriptor(send<Id>(objc_getClass("MTLCommandBufferDescriptor"), "new"));
  send<void>(descriptor, "setLogState:", static_cast<Id>(log));
  Id commands = send<Id>(queue_, "commandBufferWithDescriptor:", static_cast<Id>(descriptor));
  Id encoder = send<Id>(commands, "computeCommandEncoder");
  send<void>(encoder, "setComputePipelineState:", static_cast<Id>(state));
  dispatch(encoder, 1, 32);
  end(encoder);
  finish(commands);
  EXPECT_EQ(lines, std::vector<std::string>{"i is 3"});
}

TEST_F(FakeFramework, blit_commands_fill_and_copy) {
  Pool pool;
  Owned from = buffer(64), to = buffer(64);
  Id commands = command_buffer();
  Id encoder = send<Id>(commands, "blitCommandEncoder");
  send<void>(encoder, "fillBuffer:range:value:", static_cast<Id>(from), uint64_t{16}, uint64_t{8},
             uint8_t{0xAB});
  send<void>(encoder,
             "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", static_cast<Id>(from),
             uint64_t{12}, static_cast<Id>(to), uint64_t{40}, uint64_t{12});
  end(encoder);
  finish(commands);
  EXPECT_EQ(status(commands), 4u) << error_of(commands);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(contents<uint8_t>(from)[i], i >= 16 && i < 24 ? 0xAB : 0);
    EXPECT_EQ(contents<uint8_t>(to)[i], i >= 44 && i < 52 ? 0xAB : 0);
  }
}

TEST_F(FakeFramework, launches_without_records_are_checked_and_forgotten) {
  Owned add = pipeline(kAdd);
  Owned out = buffer(128), x = buffer(128);
  enceladus_sim_set_records(0);
  for (bool is_bound : {true, false}) {
    Pool pool;
    Id commands = command_buffer();
    Id encoder = send<Id>(commands, "computeCommandEncoder");
    send<void>(encoder, "setComputePipelineState:", static_cast<Id>(add));
    set_buffer(encoder, out, 0);
    if (is_bound) set_buffer(encoder, x, 1);
    set_bytes(encoder, 1.0f, 2);
    dispatch(encoder, 1, 32);
    EXPECT_EQ(violations() == "[]", is_bound);
    end(encoder);
    finish(commands);
  }
  EXPECT_EQ(contents<float>(out)[0], 0.0f);
}

TEST_F(FakeFramework, time_inside_leaves_the_host_out) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kOwn(40);
  Owned one = buffer(128);
  const int64_t before = enceladus_sim_nanoseconds_inside();
  const auto start = Clock::now();
  std::this_thread::sleep_for(kOwn);
  for (int i = 0; i < 1000; ++i) send<uint64_t>(one, "length");
  const int64_t inside = enceladus_sim_nanoseconds_inside() - before;
  EXPECT_GT(inside, 0);
  EXPECT_LT(std::chrono::nanoseconds(inside), Clock::now() - start - kOwn / 2);
}

TEST_F(FakeFramework, many_launches_leave_no_objects) {
  Owned add = pipeline(kAdd);
  Owned out = buffer(128), x = buffer(128);
  enceladus_sim_set_executes(0);
  int64_t before = enceladus_sim_live_objects();
  for (int i = 0; i < 10'000; ++i) {
    Pool pool;
    Id commands = command_buffer();
    Id encoder = send<Id>(commands, "computeCommandEncoder");
    send<void>(encoder, "setComputePipelineState:", static_cast<Id>(add));
    set_buffer(encoder, out, 0);
    set_buffer(encoder, x, 1);
    set_bytes(encoder, 1.0f, 2);
    dispatch(encoder, 1, 32);
    end(encoder);
    send<void>(commands, "commit");
    if (i % 1000 == 999) send<void>(commands, "waitUntilCompleted");
  }
  Pool pool;
  Id last = command_buffer();
  finish(last);
  wait_for_objects(before + 1);
  EXPECT_EQ(enceladus_sim_live_objects(), before + 1) << taken(&enceladus_sim_report_objects);
}

}  // namespace
}  // namespace enceladus::fake_metal
