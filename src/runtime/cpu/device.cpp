#include "runtime/cpu/device.h"

#include <pthread.h>

#include <climits>

#include "runtime/cpu/buffer.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/native_kernels.h"
#include "runtime/cpu/stream.h"

namespace enceladus::cpu {
namespace {

class CpuDevice : public Device {
 public:
  CpuDevice() : stream_(configured_threads()) {}
  DeviceKind kind() const override { return DeviceKind::kCpu; }
  const std::string& name() const override { return name_; }
  std::array<int64_t, 3> grid_limits() const override { return {INT_MAX, INT_MAX, INT_MAX}; }
  Ref<Buffer> allocate(int64_t bytes, bool zeroed) override {
    return Ref<CpuBuffer>::adopt(new CpuBuffer(allocate_memory(bytes, zeroed)));
  }
  CpuStream& default_stream() override { return stream_; }
  Ref<Kernel> load(Artifact artifact) override { return load_kernel(std::move(artifact)); }
  Ticket fill_random(const RandomFill& fill, int64_t count, Buffer& memory) override {
    return enqueue_random_fill(stream_, fill, count, memory);
  }
  Ticket evict_caches() override { return enqueue_cache_eviction(stream_); }

 private:
  const std::string name_ = "cpu";
  CpuStream stream_;
};

CpuDevice& cpu_device();

CpuDevice* create_device() {
  auto* created = new CpuDevice;
  pthread_atfork([] { cpu_device().default_stream().before_fork(); },
                 [] { cpu_device().default_stream().after_fork_in_parent(); },
                 [] { cpu_device().default_stream().after_fork_in_child(); });
  return created;
}

CpuDevice& cpu_device() {
  static CpuDevice* instance = create_device();
  return *instance;
}

}  // namespace

Device& device() { return cpu_device(); }
int thread_count() { return cpu_device().default_stream().threads(); }

}  // namespace enceladus::cpu
