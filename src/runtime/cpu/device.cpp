#include "runtime/cpu/device.h"

#include <climits>

#include "runtime/cpu/buffer.h"
#include "runtime/cpu/kernel.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

class CpuDevice : public Device {
 public:
  DeviceKind kind() const override { return DeviceKind::kCpu; }
  const std::string& name() const override { return name_; }
  std::array<int64_t, 3> grid_limits() const override { return {INT_MAX, INT_MAX, INT_MAX}; }
  Ref<Buffer> allocate(int64_t bytes, bool zeroed) override {
    return Ref<CpuBuffer>::adopt(new CpuBuffer(allocate_memory(bytes, zeroed)));
  }
  Stream& default_stream() override {
    ENC_CHECK(false, "the CPU stream is not part of this build");
  }
  Ref<Kernel> load(Artifact artifact) override { return load_kernel(std::move(artifact)); }

 private:
  const std::string name_ = "cpu";
};

}  // namespace

Device& device() {
  static Device* instance = new CpuDevice;
  return *instance;
}

}  // namespace enceladus::cpu
