// Kernels without a fault: right results and no report, under every schedule.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernel_runner.h"

namespace enceladus::simulator {
namespace {

struct Order {
  Schedule schedule;
  uint64_t seed;
};

class EverySchedule : public testing::TestWithParam<Order> {
 protected:
  Launch launch() const {
    Launch launch;
    launch.schedule(GetParam().schedule, GetParam().seed);
    return launch;
  }
};

INSTANTIATE_TEST_SUITE_P(Simulator, EverySchedule,
                         testing::Values(Order{Schedule::kInOrder, 0},
                                         Order{Schedule::kReversed, 0}, Order{Schedule::kRandom, 1},
                                         Order{Schedule::kRandom, 2}));

TEST_P(EverySchedule, Softmax) {
  SimulatedKernel kernel = load_kernel(R"(
kernel void k(device const float* x, device float* out, constant uint& columns,
              uint row [[threadgroup_position_in_grid]],
              uint t [[thread_position_in_threadgroup]],
              uint threads [[threads_per_threadgroup]],
              uint lane [[thread_index_in_simdgroup]],
              uint warp [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[32];
  threadgroup float total;
  float biggest = -INFINITY;
  for (uint c = t; c < columns; c += threads) biggest = max(biggest, x[row * columns + c]);
  biggest = simd_max(biggest);
  if (lane == 0) partial[warp] = biggest;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  biggest = simd_max(lane < threads / 32 ? partial[lane] : -INFINITY);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint c = t; c < columns; c += threads) sum += exp(x[row * columns + c] - biggest);
  sum = simd_sum(sum);
  if (lane == 0) partial[warp] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (warp == 0) {
    float all = simd_sum(lane < threads / 32 ? partial[lane] : 0.0f);
    if (lane == 0) total = all;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint c = t; c < columns; c += threads)
    out[row * columns + c] = exp(x[row * columns + c] - biggest) / total;
}
)");
  constexpr int kRows = 3, kColumns = 300;
  std::vector<float> x(kRows * kColumns), out(x.size(), -1.0f);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i) * 0.7f) * 5;
  Reports reports = launch()
                        .buffer(x, true)
                        .buffer(out)
                        .constant(uint32_t{kColumns})
                        .grid(kRows)
                        .threads(128)
                        .run(kernel);
  EXPECT_TRUE(reports.empty()) << texts(reports);
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int c = 0; c < kColumns; ++c) sum += std::exp(x[row * kColumns + c]);
    for (int c = 0; c < kColumns; ++c) {
      double right = std::exp(x[row * kColumns + c]) / sum;
      EXPECT_NEAR(out[row * kColumns + c], right, right * 1e-5);
    }
  }
}

// 32x32x32 tiles of a half product staged in threadgroup memory, one 16x16 block a SIMD group.
TEST_P(EverySchedule, MatrixProduct) {
  SimulatedKernel kernel = load_kernel(R"(
constant constexpr uint tile = 32;
kernel void k(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]],
              device float* c [[buffer(2)]], constant uint& size [[buffer(3)]],
              uint2 program [[threadgroup_position_in_grid]],
              uint t [[thread_index_in_threadgroup]],
              uint warp [[simdgroup_index_in_threadgroup]]) {
  threadgroup half left[tile * (tile + 8)];
  threadgroup half right[tile * (tile + 8)];
  uint row = program.y * tile, column = program.x * tile;
  uint warp_row = warp / 2 * 16, warp_column = warp % 2 * 16;
  simdgroup_float8x8 sums[2][2];
  for (uint i = 0; i < 2; ++i)
    for (uint j = 0; j < 2; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (uint k0 = 0; k0 < size; k0 += tile) {
    for (uint i = t; i < tile * tile; i += 128) {
      left[i / tile * (tile + 8) + i % tile] = a[(row + i / tile) * size + k0 + i % tile];
      right[i / tile * (tile + 8) + i % tile] = b[(k0 + i / tile) * size + column + i % tile];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint kk = 0; kk < tile; kk += 8) {
      simdgroup_half8x8 x[2], y[2];
      for (uint i = 0; i < 2; ++i) {
        simdgroup_load(x[i], left + (warp_row + 8 * i) * (tile + 8) + kk, tile + 8);
        simdgroup_load(y[i], right + kk * (tile + 8) + warp_column + 8 * i, tile + 8);
      }
      for (uint i = 0; i < 2; ++i)
        for (uint j = 0; j < 2; ++j)
          simdgroup_multiply_accumulate(sums[i][j], x[i], y[j], sums[i][j]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (uint i = 0; i < 2; ++i)
    for (uint j = 0; j < 2; ++j)
      simdgroup_store(sums[i][j],
                      c + (row + warp_row + 8 * i) * size + column + warp_column + 8 * j, size);
}
)");
  constexpr int kSize = 64;
  std::vector<uint16_t> a(kSize * kSize), b(kSize * kSize);
  std::vector<float> c(kSize * kSize, -1.0f);
  // Halves 1, 2 and 0.5; sums of them are exact.
  constexpr uint16_t kHalves[] = {0x3C00, 0x4000, 0x3800};
  constexpr float kValues[] = {1.0f, 2.0f, 0.5f};
  for (int i = 0; i < kSize * kSize; ++i) a[i] = kHalves[i * 7 % 3], b[i] = kHalves[i / 5 % 3];
  for (FragmentLayout layout : {FragmentLayout::kApple, FragmentLayout::kPermuted}) {
    Launch two = launch();
    two.request().grid = {2, 2, 1};
    two.request().fragment_layout = layout;
    Reports reports = two.buffer(a, true)
                          .buffer(b, true)
                          .buffer(c)
                          .constant(uint32_t{kSize})
                          .threads(128)
                          .run(kernel);
    EXPECT_TRUE(reports.empty()) << texts(reports);
    for (int i = 0; i < kSize; ++i) {
      for (int j = 0; j < kSize; ++j) {
        float right = 0;
        for (int k = 0; k < kSize; ++k) {
          right += kValues[(i * kSize + k) * 7 % 3] * kValues[(k * kSize + j) / 5 % 3];
        }
        ASSERT_EQ(c[i * kSize + j], right) << i << ", " << j;
      }
    }
  }
}

TEST_P(EverySchedule, Atomics) {
  SimulatedKernel kernel = load_kernel(R"(
kernel void k(device atomic_uint* counts, device atomic_float* total, device atomic_int* biggest,
              device atomic_uint* product, uint i [[thread_position_in_grid]],
              uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint local[4];
  if (t < 4) atomic_store_explicit(&local[t], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&local[i % 4], 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    uint mine = atomic_load_explicit(&local[t], memory_order_relaxed);
    atomic_fetch_add_explicit(counts + t, mine, memory_order_relaxed);
  }
  atomic_fetch_add_explicit(total, 0.5f, memory_order_relaxed);
  atomic_fetch_max_explicit(biggest, int(i) - 1000, memory_order_relaxed);
  uint seen = atomic_load_explicit(product, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(product, &seen, seen * 3, memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
}
)");
  std::vector<uint32_t> counts(4), product = {1};
  std::vector<float> total(1);
  std::vector<int32_t> biggest = {-5000};
  Reports reports =
      launch().buffer(counts).buffer(total).buffer(biggest).buffer(product).grid(4).run(kernel);
  EXPECT_TRUE(reports.empty()) << texts(reports);
  EXPECT_EQ(counts, std::vector<uint32_t>(4, 64));
  EXPECT_EQ(total[0], 128.0f);
  EXPECT_EQ(biggest[0], 255 - 1000);
  uint32_t power = 1;
  for (int i = 0; i < 256; ++i) power *= 3;
  EXPECT_EQ(product[0], power);
}

TEST_P(EverySchedule, ShufflesAndScans) {
  SimulatedKernel kernel = load_kernel(R"(
kernel void k(device int* out, uint lane [[thread_index_in_simdgroup]]) {
  int x = int(lane) + 1;
  device int* row = out + lane * 16;
  row[0] = simd_sum(x);
  row[1] = simd_max(x);
  row[2] = simd_prefix_inclusive_sum(x);
  row[3] = simd_prefix_exclusive_sum(x);
  row[4] = simd_shuffle_xor(x, 5);
  row[5] = simd_shuffle_up(x, 3);
  row[6] = simd_shuffle_down(x, 3);
  row[7] = simd_shuffle(x, 31 - lane);
  row[8] = simd_broadcast(x, 7);
  row[9] = simd_xor(x);
  row[10] = simd_any(x == 5);
  row[11] = simd_all(x == 5);
  row[12] = (int)(ulong)(simd_vote::vote_t)simd_ballot(x % 2 == 0);
  row[13] = simd_shuffle_rotate_down(x, 30);
  row[14] = simd_shuffle_and_fill_up(x, -x, 2);
  row[15] = (int)(simd_sum(half(x)) + simd_min((ushort)x));
}
)");
  std::vector<int32_t> out(32 * 16);
  Reports reports = launch().buffer(out).threads(32).run(kernel);
  EXPECT_TRUE(reports.empty()) << texts(reports);
  for (int lane = 0; lane < 32; ++lane) {
    int x = lane + 1, sum = x * (x + 1) / 2;
    std::vector<int32_t> row(out.begin() + lane * 16, out.begin() + lane * 16 + 16);
    std::vector<int32_t> right = {528,
                                  32,
                                  sum,
                                  sum - x,
                                  (lane ^ 5) + 1,
                                  lane < 3 ? x : x - 3,
                                  lane > 28 ? x : x + 3,
                                  32 - lane,
                                  8,
                                  32,
                                  1,
                                  0,
                                  static_cast<int32_t>(0xAAAAAAAA),
                                  (lane + 30) % 32 + 1,
                                  lane < 2 ? -((lane + 30) % 32 + 1) : x - 2,
                                  529};
    EXPECT_EQ(row, right) << "lane " << lane;
  }
}

TEST(Simulator, FlushesDenormals) {
  SimulatedKernel kernel = load_kernel(R"(
kernel void k(device float* out, uint i [[thread_position_in_grid]]) { out[i] = out[i] * 0.5f; }
)");
  std::vector<float> out = {2e-38f, 4.0f};
  EXPECT_TRUE(Launch().buffer(out).threads(2).run(kernel).empty());
  EXPECT_EQ(out, (std::vector<float>{0.0f, 2.0f}));
}

TEST(Simulator, RoundsHalfAndBfloatAfterEachOperation) {
  SimulatedKernel kernel = load_kernel(R"(
kernel void k(device half* h, device bfloat* b, device ushort* bits) {
  h[1] = h[0] * 3.0h + 1.0h;
  bfloat x = b[0] * bfloat(3.0f);
  bits[0] = as_type<ushort>(bfloat(x + bfloat(1.0f)));
}
)");
  std::vector<uint16_t> h = {0x3C01, 0}, b = {0x3F81}, bits(1);  // 1 + 2^-10, 1 + 2^-7
  EXPECT_TRUE(Launch().buffer(h).buffer(b).buffer(bits).threads(1).run(kernel).empty());
  EXPECT_EQ(h[1], 0x4401 - 0x0000) << std::hex << h[1];
  EXPECT_EQ(bits[0], 0x4081) << std::hex << bits[0];
}

TEST(Simulator, PassesThreadgroupArgumentsAndVectorBuiltins) {
  SimulatedKernel kernel = load_kernel(R"(
struct Scalars { float scale; int count; };
kernel void k(device float4* out [[buffer(0)]], constant Scalars& scalars [[buffer(1)]],
              threadgroup float* shared [[threadgroup(0)]],
              uint3 position [[thread_position_in_threadgroup]],
              ushort index [[thread_index_in_threadgroup]], uint2 size [[threads_per_threadgroup]]) {
  shared[index] = position.x + 10 * position.y + 100 * position.z;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (index < scalars.count)
    out[index] = float4(shared[index], size.x, float2(size.y, 1)) * scalars.scale;
}
)");
  struct {
    float scale = 2;
    int32_t count = 8;
  } scalars;
  std::vector<float> out(32);
  Launch launch;
  launch.buffer(out).constant(scalars).threadgroup_memory(0, 32);
  launch.request().threads = {2, 2, 2};
  Reports reports = launch.run(kernel);
  EXPECT_TRUE(reports.empty()) << texts(reports);
  for (int i = 0; i < 8; ++i) {
    float x = i % 2 + 10 * (i / 2 % 2) + 100 * (i / 4);
    EXPECT_EQ(out[4 * i], 2 * x);
    EXPECT_EQ(out[4 * i + 1], 4.0f);
  }
}

// The shape of generated text: one array for all of a kernel's shared memory, read as other types,
// and comments that name the kernel's own lines.
constexpr const char* kGenerated = R"(
[[max_total_threads_per_threadgroup(64)]]
kernel void k(device float* out [[buffer(0)]], uint3 program [[threadgroup_position_in_grid]],
              uint lane [[thread_index_in_simdgroup]],
              uint warp [[simdgroup_index_in_threadgroup]]) {
  alignas(16) threadgroup uchar shared[512];
  // softmax.py:7
  ((threadgroup float*)(shared + 256))[warp * 32 + lane] = float(lane);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  // softmax.py:9
  float4 four = *(threadgroup float4*)(shared + 256 + 16 * (lane % 8));
  out[warp * 32 + lane] = four.x + four.w;
}
)";

TEST(Simulator, RunsGeneratedTextAndNamesTheKernelsLine) {
  std::vector<float> out(64);
  Reports reports = Launch().buffer(out).run(load_kernel(kGenerated));
  EXPECT_TRUE(reports.empty()) << texts(reports);
  EXPECT_EQ(out[33], 4.0f + 7.0f);
  std::string faulty = kGenerated;
  faulty.replace(faulty.find("  threadgroup_barrier"), 50, std::string(48, ' ') + "\n ");
  reports = Launch().buffer(out).run(load_kernel(faulty));
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().kind, ReportKind::kRace);
  EXPECT_EQ(reports.back().place.source, "softmax.py:9") << texts(reports);
  EXPECT_EQ(reports.back().other_place.source, "softmax.py:7") << texts(reports);
}

TEST(Simulator, KeepsLoggedLines) {
  CompileOptions options;
  options.language_version = 320;
  SimulatedKernel kernel = SimulatedKernel::load(R"(
#include <metal_stdlib>
#include <metal_logging>
using namespace metal;
kernel void k(uint i [[thread_position_in_grid]]) {
  if (i == 2) os_log_default.log("x %d|%5.2f|%x|%lu|%% %e", -3, 1.5f, 255, 1ul << 40, half(2));
  os_log_default.log_info("thread %u of %c", i, 'k');
}
)",
                                                 "k", options);
  std::vector<std::string> log;
  Launch launch;
  launch.threads(3).request().log = &log;
  EXPECT_TRUE(launch.run(kernel).empty());
  std::vector<std::string> right = {"thread 0 of k", "thread 1 of k",
                                    "x -3| 1.50|ff|1099511627776|% 2.000000e+00", "thread 2 of k"};
  EXPECT_EQ(log, right);
}

}  // namespace
}  // namespace enceladus::simulator
