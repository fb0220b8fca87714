#include "runtime/cuda/device.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "runtime/common/failure.h"
#include "runtime/common/flush_every.h"
#include "runtime/cuda/early_compiler.h"
#include "runtime/cuda/kernel.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/cuda/stream.h"

namespace enceladus::cuda {
namespace {

// CUdevice_attribute.
constexpr int kGridX = 5, kGridY = 6, kGridZ = 7;
constexpr int kL2Bytes = 38;
constexpr int kClock = 13, kMemoryClock = 36, kMemoryBits = 37;
// Of a multiprocessor.
constexpr int kThreads = 39, kSharedBytes = 81, kRegisters = 82, kPrograms = 106;
constexpr int kMinor = 76;
// CUpointer_attribute.
constexpr int kPointerOrdinal = 9;

constexpr int64_t kRandomChunk = int64_t{1} << 20;  // elements made on the host at a time

std::atomic<bool> in_use{false};

// With CUDA_LAUNCH_BLOCKING each launch is to show its own errors.
Holding holding() {
  const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  const bool is_blocking = blocking && *blocking && *blocking != '0';
  return {.largest_batch = is_blocking ? 1 : static_cast<size_t>(flush_every())};
}

// What needs the context: made by the first use.
struct Parts {
  explicit Parts(int ordinal)
      : context(driver(), ordinal), pool(context, kLegacyStream), stream(context, pool, holding()) {
    in_use.store(true);
  }
  Context context;
  MemoryPool pool;
  CudaStream stream;
};

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int ordinal)
      : ordinal_(ordinal),
        name_("cuda:" + std::to_string(ordinal)),
        grid_limits_{attribute(kGridX), attribute(kGridY), attribute(kGridZ)} {}

  DeviceKind kind() const override { return DeviceKind::kCuda; }
  const std::string& name() const override { return name_; }
  bool has_started() const override { return started_.load() && !parts_->context.is_lost(); }
  std::vector<std::pair<std::string, std::string>> properties() const override;
  std::string description() const override {
    return model() + " " + architecture() + ", " + std::to_string(attribute(kMultiprocessors)) +
           " multiprocessors, driver " + std::to_string(driver_version());
  }
  std::array<int64_t, 3> grid_limits() const override { return grid_limits_; }
  Ref<Buffer> allocate(int64_t bytes, bool zeroed) override {
    auto buffer = Ref<CudaBuffer>::adopt(new CudaBuffer(parts().pool, bytes));
    if (zeroed) set(buffer->data(), bytes, 1, 0);  // no launch uses it yet
    return buffer;
  }
  CudaStream& default_stream() override { return parts().stream; }
  Ref<Kernel> load(Artifact artifact) override {
    // Text that a user wrote comes uncompiled.
    if (artifact.binary.empty()) compile_artifact(artifact, architecture());
    return Ref<CudaKernel>::adopt(new CudaKernel(parts().context, std::move(artifact)));
  }
  Ref<Event> make_event() override {
    return Ref<CudaEvent>::adopt(new CudaEvent(parts().context, CudaEvent::Timing::kOn));
  }
  Ticket fill_random(const RandomFill& fill, int64_t count, Buffer& memory) override;
  Ticket evict_caches() override;

  bool shares_host_memory() const override { return false; }
  void copy_to_host(void* host, const void* from, int64_t bytes) override {
    parts().stream.flush();
    parts().stream.staging().download(host, address(from), bytes);
  }
  void copy_from_host(void* to, const void* host, int64_t bytes) override {
    parts().stream.flush();
    parts().stream.staging().upload(address(to), host, bytes);
  }
  void copy_within(void* to, const void* from, int64_t bytes) override {
    if (bytes == 0) return;
    parts().stream.flush();
    const Context::Scope scope(parts().context);
    parts().context.check(
        driver().copy_within(address(to), address(from), static_cast<size_t>(bytes), kLegacyStream),
        "cuMemcpyDtoDAsync");
  }
  void fill(void* to, int64_t count, int size, uint32_t bits) override {
    parts().stream.flush();
    set(to, count, size, bits);
  }
  void make_wait(void* native_stream) override {
    parts().stream.make_wait(static_cast<StreamHandle>(native_stream));
  }

  int ordinal() const { return ordinal_; }
  // cp.async, mma.sync on bfloat16: Ampere and later.
  bool serves_our_code() const { return attribute(kMajor) >= 8; }
  // Instructions of one architecture alone ("a") from Hopper on.
  std::string architecture() const override {
    const int major = attribute(kMajor);
    return "sm_" + std::to_string(major) + std::to_string(attribute(kMinor)) +
           (major >= 9 ? "a" : "");
  }

 private:
  static DevicePointer address(const void* pointer) {
    return reinterpret_cast<DevicePointer>(pointer);
  }
  std::string model() const {
    char name[256] = {};
    driver().device_name(name, sizeof(name), handle());
    return name;
  }
  static int driver_version() {
    int version = 0;
    driver().driver_version(&version);
    return version;
  }
  DeviceHandle handle() const {
    DeviceHandle handle = 0;
    driver().device_get(&handle, ordinal_);
    return handle;
  }
  int attribute(int which) const {
    int value = 0;
    const Result result = driver().device_attribute(&value, which, handle());
    if (result != kSuccess)
      throw DeviceFailure("cuda", "cuDeviceGetAttribute answered " + error_text(driver(), result));
    return value;
  }
  Parts& parts() {
    if (started_.load(std::memory_order_acquire)) [[likely]]
      return *parts_;
    std::call_once(once_, [this] {
      start_compiler_early(architecture());
      parts_ = std::make_unique<Parts>(ordinal_);
      started_.store(true);
    });
    return *parts_;
  }

  void set(void* to, int64_t count, int size, uint32_t bits);

  const int ordinal_;
  const std::string name_;
  const std::array<int64_t, 3> grid_limits_;
  std::once_flag once_;
  std::atomic<bool> started_{false};
  std::unique_ptr<Parts> parts_;
  Ref<Buffer> evicted_;
};

std::vector<std::pair<std::string, std::string>> CudaDevice::properties() const {
  return {{"name", model()},
          {"architecture", architecture()},
          {"multiprocessors", std::to_string(attribute(kMultiprocessors))},
          {"threads of a multiprocessor", std::to_string(attribute(kThreads))},
          {"registers of a multiprocessor", std::to_string(attribute(kRegisters))},
          {"shared memory bytes of a multiprocessor", std::to_string(attribute(kSharedBytes))},
          {"programs of a multiprocessor", std::to_string(attribute(kPrograms))},
          {"clock kHz", std::to_string(attribute(kClock))},
          {"memory clock kHz", std::to_string(attribute(kMemoryClock))},
          {"memory bus bits", std::to_string(attribute(kMemoryBits))},
          {"L2 bytes", std::to_string(attribute(kL2Bytes))},
          {"shared memory bytes of a program", std::to_string(attribute(kSharedBytesOptIn))},
          {"driver's CUDA version", std::to_string(driver_version())}};
}

// The host makes the numbers, so that they are those of every target.
Ticket CudaDevice::fill_random(const RandomFill& fill, int64_t count, Buffer& memory) {
  const int64_t size = byte_size(fill.dtype);
  std::vector<char> chunk(static_cast<size_t>(std::min(kRandomChunk, count) * size));
  const int64_t blocks = kRandomChunk / elements_per_block(fill.dtype);
  RandomFill part = fill;
  part.data = chunk.data();
  for (int64_t at = 0; at < count; at += kRandomChunk) {
    const int64_t elements = std::min(kRandomChunk, count - at);
    enceladus::fill_random(part, 0, elements);
    copy_from_host(static_cast<char*>(fill.data) + at * size, chunk.data(), elements * size);
    part.offset += static_cast<uint64_t>(blocks);
  }
  return default_stream().newest();
}

Ticket CudaDevice::evict_caches() {
  const int64_t bytes = 4 * int64_t{attribute(kL2Bytes)};
  if (!evicted_) evicted_ = allocate(bytes, /*zeroed=*/false);
  fill(evicted_->data(), bytes, 1, 0);
  return default_stream().newest();
}

// Fills at once, in front of launches that are held.
void CudaDevice::set(void* to, int64_t count, int size, uint32_t bits) {
  if (count == 0) return;
  const Context::Scope scope(parts().context);
  const auto elements = static_cast<size_t>(count);
  Result result = kSuccess;
  if (size == 1)
    result =
        driver().set_bytes(address(to), static_cast<unsigned char>(bits), elements, kLegacyStream);
  else if (size == 2)
    result = driver().set_halves(address(to), static_cast<unsigned short>(bits), elements,
                                 kLegacyStream);
  else
    result = driver().set_words(address(to), bits, elements, kLegacyStream);
  parts().context.check(result, "cuMemsetAsync");
}

struct Found {
  std::vector<Device*> devices;
  std::string problem;
};

Found find_devices() {
  Found found;
  try {
    int count = 0;
    const Result result = driver().device_count(&count);
    if (result != kSuccess)
      throw DeviceFailure("cuda", "cuDeviceGetCount answered " + error_text(driver(), result));
    if (count == 0) found.problem = "the CUDA driver sees no GPU";
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      auto device = std::make_unique<CudaDevice>(ordinal);
      if (device->serves_our_code())
        found.devices.push_back(device.release());
      else
        found.problem = device->name() + " is a GPU of " + device->architecture() +
                        ", and sm_80 or newer is needed";
    }
  } catch (const DeviceFailure& failure) {
    found.problem = failure.what();
  }
  return found;
}

const Found& found() {
  static const Found* result = new Found(find_devices());
  return *result;
}

}  // namespace

const std::vector<Device*>& devices() {
  if (!found().devices.empty()) driver();  // throws after a fork
  return found().devices;
}

const std::string& unavailable_reason() { return found().problem; }

bool is_in_use() { return in_use.load() && is_driver_usable(); }

int ordinal(const Device& device) { return static_cast<const CudaDevice&>(device).ordinal(); }

int ordinal_of_memory(const void* address) {
  int ordinal = -1;
  const Result result = driver().pointer_attribute(&ordinal, kPointerOrdinal,
                                                   reinterpret_cast<DevicePointer>(address));
  if (result != kSuccess)
    throw DeviceFailure("cuda", "cuPointerGetAttribute answered " + error_text(driver(), result));
  if (ordinal < 0) throw DeviceFailure("cuda", "cuPointerGetAttribute names no device");
  return ordinal;
}

void wait_for(Device& device, void* native_stream) {
  static_cast<CudaDevice&>(device).default_stream().wait_for(
      static_cast<StreamHandle>(native_stream));
}

}  // namespace enceladus::cuda
