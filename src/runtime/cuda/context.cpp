#include "runtime/cuda/context.h"

#include "runtime/common/failure.h"

namespace enceladus::cuda {
namespace {

// Errors behind which the driver refuses every further call on the context: memory that failed,
// faults of running kernels (700 and on, without those that only refuse a launch).
bool ends_context(Result result) {
  switch (result) {
    case 214:  // uncorrectable memory error
    case 220:  // uncorrectable NVLink error
    case 226:  // contained error
    case 700:  // illegal address
    case 702:  // timeout
    case 710:  // assertion
    case 714:  // hardware stack error
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // invalid address space
    case 718:  // invalid program counter
    case 719:  // launch failed
    case 721:  // tensor memory leak
      return true;
    default:
      return false;
  }
}

constexpr const char* kLost =
    "The CUDA context of this process is lost: nothing more can run on the GPU until the program "
    "starts again";

}  // namespace

Context::Context(const Driver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {
  check(driver.device_get(&device_, ordinal), "cuDeviceGet");
  check(driver.retain_primary_context(&handle_, device_), "cuDevicePrimaryCtxRetain");
}

int Context::attribute(int which) const {
  int value = 0;
  check(driver_.device_attribute(&value, which, device_), "cuDeviceGetAttribute");
  return value;
}

DevicePointer Context::blank_memory() const {
  std::call_once(made_blank_, [this] {
    DevicePointer memory = 0;
    check(driver_.allocate(&memory, 2 * kBlankBytes), "cuMemAlloc");
    check(driver_.set_bytes(memory, 0, 2 * kBlankBytes, nullptr), "cuMemsetD8Async");
    check(driver_.synchronize_stream(nullptr), "cuStreamSynchronize");
    blank_ = memory;
  });
  return blank_;
}

void Context::check(Result result, const char* call, std::string_view kernel) const {
  if (result == kSuccess) [[likely]]
    return;
  std::string message = std::string(call);
  if (!kernel.empty()) message += " for kernel `" + std::string(kernel) + "`";
  fail(result, std::move(message));
}

void Context::check_pending(Result result, const char* call, const std::string& kernels) const {
  if (result == kSuccess) return;
  std::string message = call;
  if (!kernels.empty()) message += " behind " + kernels;
  fail(result, std::move(message));
}

void Context::fail(Result result, std::string message) const {
  message = "cuda:" + std::to_string(ordinal_) + ": " + message + " answered " +
            error_text(driver_, result);
  if (ends_context(result)) {
    lost_.store(true);
    message += std::string(". ") + kLost;
  }
  throw DeviceFailure("cuda", message);
}

void Context::check_usable() const {
  cuda::driver();  // throws after a fork
  if (is_lost()) [[unlikely]]
    throw DeviceFailure("cuda", "cuda:" + std::to_string(ordinal_) + ": " + kLost);
}

Context::Scope::Scope(const Context& context) {
  context.check_usable();
  const Driver& driver = context.driver_;
  ContextHandle current = nullptr;
  context.check(driver.current_context(&current), "cuCtxGetCurrent");
  if (current == context.handle_) [[likely]]
    return;
  // A thread without a context keeps ours, unless frameworks would take that for a choice of
  // another device than their first.
  if (!current && context.ordinal_ == 0) {
    context.check(driver.set_current_context(context.handle_), "cuCtxSetCurrent");
    return;
  }
  context.check(driver.push_context(context.handle_), "cuCtxPushCurrent");
  popped_by_ = &driver;
}

Context::Scope::~Scope() {
  ContextHandle popped = nullptr;
  if (popped_by_) popped_by_->pop_context(&popped);
}

}  // namespace enceladus::cuda
