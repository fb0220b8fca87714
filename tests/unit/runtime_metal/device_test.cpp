#include "runtime/metal/device.h"

#include "runtime/common/failure.h"
#include "simulated_device.h"

namespace enceladus::metal {
namespace {

// The chip that the stand-in pretends to be, until the end of the test.
class ChosenChip {
 public:
  ChosenChip(uint64_t family, int32_t metal4) { set(family, metal4); }
  ~ChosenChip() { set(9, 1); }

 private:
  static void set(uint64_t family, int32_t metal4) {
    const Objc objc(simulator_framework(ENCELADUS_METAL_SIM).libraries);
    reinterpret_cast<void (*)(uint64_t, int32_t)>(objc.find_symbol("enceladus_sim_set_family"))(
        family, metal4);
  }
};

MetalDevice simulated() {
  return {DeviceKind::kMetalSim, simulator_framework(ENCELADUS_METAL_SIM)};
}

TEST(MetalDevice, a_gpu_before_family_7_is_refused) {
  const ChosenChip chip(6, 0);
  MetalDevice device = simulated();
  try {
    device.default_stream();
    FAIL() << "its SIMD groups and matrices are missing";
  } catch (const DeviceFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("is not of Apple's family 7 (M1) or later"),
              std::string::npos)
        << failure.what();
  }
  EXPECT_FALSE(device.has_started());
}

TEST(MetalDevice, the_architecture_names_family_and_metal_4) {
  {
    const ChosenChip chip(8, 0);
    EXPECT_EQ(simulated().architecture(), "apple8");
  }
  const ChosenChip chip(10, 1);
  EXPECT_EQ(simulated().architecture(), "apple10+metal4");
}

using WrappedMemoryTest = SimulatedDevice;

TEST_F(WrappedMemoryTest, pages_are_wrapped_and_take_tensors_once) {
  alignas(16384) static std::byte pages[2 * kPageBytes];
  const uint64_t low = address_of(pages) + 100;
  const Ref<WrappedMemory> memory = device_.wrap_host_memory(low, low + 20000);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->data(), pages);
  EXPECT_EQ(memory->bytes(), static_cast<int64_t>(2 * kPageBytes));
  EXPECT_EQ(memory->find(low).offset, 100u);
  EXPECT_TRUE(memory->take_tensors());
  EXPECT_TRUE(memory->take_tensors());
  EXPECT_EQ(device_.find(low).buffer, memory->find(low).buffer);
  const Ref<WrappedMemory> second = device_.wrap_host_memory(low, low + 1);
  EXPECT_FALSE(second->take_tensors());
}

TEST_F(WrappedMemoryTest, no_bytes_and_no_memory_give_nothing) {
  EXPECT_FALSE(device_.wrap_host_memory(kPageBytes, kPageBytes));
  control<void>("enceladus_sim_inject",
                "newBufferWithBytesNoCopy:length:options:deallocator:", int64_t{0});
  alignas(16384) static std::byte page[kPageBytes];
  EXPECT_FALSE(device_.wrap_host_memory(address_of(page), address_of(page) + 1));
}

TEST_F(WrappedMemoryTest, an_array_in_a_wrapped_page_has_bounds_of_its_own) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  alignas(16384) static int32_t page[kPageBytes / 4];
  const Ref<WrappedMemory> memory =
      device_.wrap_host_memory(address_of(page), address_of(page + 10));
  Buffer* buffers[] = {memory.get()};
  const uint64_t parameters[] = {address_of(page + 2), 5};
  const uint64_t extents[] = {address_of(page + 2), address_of(page + 10), 0, 0};
  const uint16_t indices[] = {0};
  Launch launch{.kernel = kernel.get(),
                .parameters = parameters,
                .extents = extents,
                .grid = {8, 1, 1},
                .host_arrays = indices,
                .host_memory = buffers};
  stream_.run_now(launch);
  EXPECT_EQ(page[1], 0);
  EXPECT_EQ(page[2], 5);
  EXPECT_EQ(page[9], 5);
  launch.grid = {9, 1, 1};
  EXPECT_THROW(stream_.run_now(launch), LaunchFailure);
  EXPECT_EQ(page[10], 0);
}

}  // namespace
}  // namespace enceladus::metal
