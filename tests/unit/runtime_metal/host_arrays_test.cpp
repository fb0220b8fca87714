#include "runtime/metal/host_arrays.h"

#include <cstdlib>
#include <numeric>
#include <vector>

#include "simulated_device.h"

namespace enceladus::metal {
namespace {

using HostArraysTest = SimulatedDevice;

struct HostLaunch {
  HostLaunch(Kernel* kernel, const int32_t* first, int64_t count, int32_t value)
      : parameters{address_of(first), static_cast<uint64_t>(value)},
        extents{address_of(first), address_of(first + count), 0, 0},
        launch{.kernel = kernel,
               .parameters = parameters,
               .extents = extents,
               .grid = {static_cast<int32_t>(count), 1, 1},
               .host_arrays = indices} {}
  uint64_t parameters[2];
  uint64_t extents[4];
  uint16_t indices[1] = {0};
  Launch launch;
};

TEST_F(HostArraysTest, results_are_copied_back_and_neighbours_left_alone) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  std::vector<int32_t> array(100);
  std::iota(array.begin(), array.end(), 0);
  stream_.run_now(HostLaunch(kernel.get(), array.data() + 3, 10, 1000).launch);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(array[i], i >= 3 && i < 13 ? i + 1000 : i);
}

TEST_F(HostArraysTest, whole_pages_are_shared_without_a_copy) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  auto* array = static_cast<int32_t*>(std::aligned_alloc(kPageBytes, kPageBytes));
  std::fill_n(array, kPageBytes / 4, 0);
  {
    const HostLaunch launch(kernel.get(), array, kPageBytes / 4, 5);
    EXPECT_FALSE(HostArrays(device_.context(), launch.launch).has_copies());
    EXPECT_NE(stream_.try_enqueue(launch.launch), 0u);
    stream_.synchronize();
  }
  EXPECT_EQ(array[0], 5);
  EXPECT_EQ(array[kPageBytes / 4 - 1], 5);
  std::free(array);
}

TEST_F(HostArraysTest, without_memory_that_can_be_wrapped_it_copies) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  auto* array = static_cast<int32_t*>(std::aligned_alloc(kPageBytes, kPageBytes));
  std::fill_n(array, kPageBytes / 4, 0);
  control<void>("enceladus_sim_inject",
                "newBufferWithBytesNoCopy:length:options:deallocator:", int64_t{0});
  stream_.run_now(HostLaunch(kernel.get(), array, kPageBytes / 4, 5).launch);
  EXPECT_EQ(array[kPageBytes / 4 - 1], 5);
  std::free(array);
}

TEST_F(HostArraysTest, overlapping_arrays_share_memory) {
  Artifact artifact = add_artifact();
  artifact.parameters[1] = {.name = "y", .is_pointer = true, .is_read = true};
  const Ref<Kernel> kernel = device_.load(artifact);
  alignas(16) int32_t array[64] = {};
  const uint64_t parameters[] = {address_of(array + 9), address_of(array + 4)};
  const uint64_t extents[] = {address_of(array + 9), address_of(array + 20), address_of(array + 4),
                              address_of(array + 12)};
  const uint16_t indices[] = {0, 1};
  const Launch launch{
      .kernel = kernel.get(), .parameters = parameters, .extents = extents, .host_arrays = indices};
  const HostArrays arrays(device_.context(), launch);
  const BoundPointer one = arrays.find(0, parameters[0]), other = arrays.find(1, parameters[1]);
  EXPECT_EQ(one.buffer, other.buffer);
  EXPECT_EQ(one.offset - other.offset, 20u);
  EXPECT_EQ(other.offset % 16, 0u);  // as array + 4 is aligned
}

TEST_F(HostArraysTest, an_array_of_no_elements_has_a_place) {
  const Ref<Kernel> kernel = device_.load(add_artifact());
  int32_t nothing = 7;
  stream_.run_now(HostLaunch(kernel.get(), &nothing, 0, 5).launch);
  EXPECT_EQ(nothing, 7);
}

}  // namespace
}  // namespace enceladus::metal
