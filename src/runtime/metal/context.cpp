#include "runtime/metal/context.h"

#include "runtime/common/failure.h"

namespace enceladus::metal {
namespace {

Capabilities read_capabilities(const Api& api, Id device) {
  Capabilities result;
  result.name = api.device_name(device);
  for (auto family = static_cast<int64_t>(Family::kApple7);
       family <= static_cast<int64_t>(Family::kApple10); ++family)
    if (api.supports(device, family)) result.gpu_family = static_cast<int32_t>(family - 1000);
  result.has_metal4 = api.supports(device, static_cast<int64_t>(Family::kMetal4));
  result.threadgroup_bytes = api.max_threadgroup_memory(device);
  result.buffer_bytes = api.max_buffer_length(device);
  return result;
}

}  // namespace

FrameworkSource apple_frameworks() {
  return {.libraries = {"/usr/lib/libobjc.A.dylib",
                        "/System/Library/Frameworks/Foundation.framework/Foundation",
                        "/System/Library/Frameworks/Metal.framework/Metal"}};
}

FrameworkSource simulator_framework(const std::string& library) {
  return {.libraries = {library}, .is_simulator = true};
}

bool is_metal_present() {
  try {
    return static_cast<bool>(Context(apple_frameworks()).device);
  } catch (const DeviceFailure&) {
    return false;
  }
}

Context::Context(const FrameworkSource& source)
    : is_simulator(source.is_simulator), objc(source.libraries) {
  const Pool pool(objc);
  auto create = reinterpret_cast<Id (*)()>(objc.find_symbol("MTLCreateSystemDefaultDevice"));
  if (create) device = Owned::adopt(objc, create());
  if (!device)
    throw DeviceFailure("metal", "MTLCreateSystemDefaultDevice: this machine has no Metal device");
  if (is_simulator)
    set_extent =
        reinterpret_cast<decltype(set_extent)>(objc.find_symbol("enceladus_sim_set_extent"));
  capabilities = read_capabilities(api, device.get());
  if (capabilities.gpu_family == 0)
    throw DeviceFailure("metal", "the GPU " + capabilities.name +
                                     " is not of Apple's family 7 (M1) or later, whose SIMD groups "
                                     "and matrices kernels use");
}

}  // namespace enceladus::metal
