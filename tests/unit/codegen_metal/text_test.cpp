// What the emitted text holds and what it may never hold.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "metal_kernels.h"

namespace enceladus::metal {
namespace {

std::string vector_kernel(const std::string& body, const std::string& options = "") {
  return kernel(4,
                "%x: ptr<f32> {aligned_16}, %y: ptr<f32> {aligned_16}, %n: i32 {divisible_by_16}",
                R"(
  %c = constant 1024 : i32
  %pid = program_id {axis = 0} : i32
  %start = mul %pid, %c : i32
  %i = arange {start = 0} : tile<1024xi32>
  %s = splat %start : i32 -> tile<1024xi32>
  %o = add %s, %i : tile<1024xi32>
  %limit = splat %n : i32 -> tile<1024xi32>
  %mask = lt %o, %limit : tile<1024xi32>
  %px = splat %x : ptr<f32> -> tile<1024xptr<f32>>
  %qx = addptr %px, %o : tile<1024xptr<f32>>, tile<1024xi32>
  %py = splat %y : ptr<f32> -> tile<1024xptr<f32>>
  %qy = addptr %py, %o : tile<1024xptr<f32>>, tile<1024xi32>
)" + body,
                options);
}

TEST(MetalText, vector_add_moves_16_bytes_at_a_time) {
  std::string text = msl_of(vector_kernel(R"(
  %a = load %qx, mask = %mask : tile<1024xptr<f32>>
  %b = load %qy, mask = %mask : tile<1024xptr<f32>>
  %r = add %a, %b : tile<1024xf32>
  store %qy, %r, mask = %mask : tile<1024xptr<f32>>
)"));
  EXPECT_TRUE(contains(text, "*(device const float4*)")) << text;
  EXPECT_TRUE(contains(text, "*(device float4*)")) << text;
}

TEST(MetalText, threads_that_keep_to_their_elements_need_no_barrier) {
  std::string text = msl_of(vector_kernel(R"(
  %a = load %qx, mask = %mask : tile<1024xptr<f32>>
  %r = add %a, %a : tile<1024xf32>
  store %qx, %r, mask = %mask : tile<1024xptr<f32>>
)"));
  EXPECT_FALSE(contains(text, "barrier(")) << text;
}

// Stores 1024 elements a turn; the turns are `advance` elements apart.
std::string blocks_of(int advance) {
  return kernel(4, "%x: ptr<f32> {aligned_16}, %n: i32",
                R"(
  %zero = constant 0 : i32
  %step = constant )" +
                    std::to_string(advance) +
                    R"( : i32
  %i = arange {start = 0} : tile<1024xi32>
  %one = constant 1.0 : tile<1024xf32>
  for %k = %zero to %n step %step {
    %p = addptr %x, %k : ptr<f32>, i32
    %s = splat %p : ptr<f32> -> tile<1024xptr<f32>>
    %q = addptr %s, %i : tile<1024xptr<f32>>, tile<1024xi32>
    %v = load %q : tile<1024xptr<f32>>
    %r = add %v, %one : tile<1024xf32>
    store %q, %r : tile<1024xptr<f32>>
    yield
  }
)");
}

TEST(MetalText, blocks_that_follow_one_another_need_no_barrier) {
  EXPECT_FALSE(contains(msl_of(blocks_of(1024)), "barrier("));
  EXPECT_TRUE(contains(msl_of(blocks_of(1023)), "barrier("));
}

TEST(MetalText, a_neighbours_element_needs_a_barrier) {
  std::string text = msl_of(vector_kernel(R"(
  %one = constant 1 : i32
  %x1 = addptr %x, %one : ptr<f32>, i32
  %p1 = splat %x1 : ptr<f32> -> tile<1024xptr<f32>>
  %q1 = addptr %p1, %o : tile<1024xptr<f32>>, tile<1024xi32>
  %a = load %q1, mask = %mask : tile<1024xptr<f32>>
  store %qx, %a, mask = %mask : tile<1024xptr<f32>>
)"));
  EXPECT_TRUE(contains(text, "barrier(")) << text;
}

TEST(MetalText, overlapping_blocks_are_right) {
  std::vector<float> zeros(4096), right(4096);
  for (int start = 0; start < 3000; start += 1023)
    for (int i = 0; i < 1024; ++i) right[static_cast<size_t>(start + i)] += 1;
  each_schedule(blocks_of(1023), {Array::of(zeros), Array::scalars({3000})}, {},
                [&](const std::vector<Array>& arrays) { EXPECT_EQ(arrays[0].as<float>(), right); });
}

TEST(MetalText, offsets_of_small_arrays_have_32_bits) {
  std::string body = R"(
  %a = load %qx : tile<1024xptr<f32>>
  store %qy, %a : tile<1024xptr<f32>>
)";
  std::string small = msl_of(vector_kernel(body)), wide = vector_kernel(body);
  wide.replace(wide.find(", arrays_small"), 14, "");
  EXPECT_FALSE(contains(small, "long")) << small;
  EXPECT_TRUE(contains(msl_of(wide), "long"));
}

TEST(MetalText, excess_shared_memory_names_lines_and_sizes) {
  std::string text = kernel(4, "%a: ptr<i8>, %b: ptr<i8>, %c: ptr<i32>", R"(
  %n = constant 256 : i32
  %one = constant 1 : i32
  %zero = constant 0 : i32
  %da = make_descriptor %a, %n, %n, %n, %one : desc<128x256xi8>
  %db = make_descriptor %b, %n, %n, %n, %one : desc<256x64xi8>
  %dc = make_descriptor %c, %n, %n, %n, %one : desc<128x64xi32>
  %ta = descriptor_load %da, %zero, %zero : tile<128x256xi8>
  %tb = descriptor_load %db, %zero, %zero : tile<256x64xi8>
  %z = constant 0 : tile<128x64xi32>
  %r = dot %ta, %tb, %z : tile<128x256xi8>, tile<256x64xi8>, tile<128x64xi32> -> tile<128x64xi32>
  descriptor_store %dc, %r, %zero, %zero : desc<128x64xi32>, tile<128x64xi32>
)");
  try {
    compiled(text);
    FAIL() << "no error";
  } catch (const CompilationFailure& failure) {
    std::string message = failure.what();
    EXPECT_TRUE(contains(message, "bytes of shared memory, the target has 32768: ")) << message;
    EXPECT_TRUE(contains(message, "32768 bytes (line")) << message;
    EXPECT_TRUE(contains(message, "16384 bytes (line")) << message;
  }
}

TEST(MetalText, tiles_that_spill_are_warned_of_and_larger_ones_refused) {
  auto scaled = [](const std::string& extent) {
    std::string text = kernel(1, "%x: ptr<f32>", R"(
  %i = arange {start = 0} : tile<Nxi32>
  %p = splat %x : ptr<f32> -> tile<Nxptr<f32>>
  %q = addptr %p, %i : tile<Nxptr<f32>>, tile<Nxi32>
  %v = load %q : tile<Nxptr<f32>>
  %r = add %v, %v : tile<Nxf32>
  store %q, %r : tile<Nxptr<f32>>
)");
    return std::regex_replace(text, std::regex("<N"), "<" + extent);
  };
  EXPECT_TRUE(compiled(scaled("4096")).warnings.empty());
  std::vector<std::string> warnings = compiled(scaled("8192")).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(contains(warnings[0], "takes 256 registers a thread with num_warps=1"))
      << warnings[0];
  EXPECT_TRUE(contains(warnings[0], "num_warps=2")) << warnings[0];
  try {
    compiled(scaled("16384"));
    FAIL() << "no error";
  } catch (const CompilationFailure& failure) {
    EXPECT_TRUE(contains(failure.what(), "takes 512 registers a thread")) << failure.what();
  }
}

// In all goldens: no double, no pointer without an address space, no SIMD function of a type that
// it does not take.
TEST(MetalText, never_holds_what_the_language_has_not) {
  std::regex generic(
      R"((^|[(,;{]\s*)(const )?(bool|u?char|u?short|u?int|u?long|half|bfloat|float)\d?\*)");
  for (const auto& entry : std::filesystem::directory_iterator(ENCELADUS_METAL_GOLDENS)) {
    if (entry.path().extension() != ".metal") continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_FALSE(std::regex_search(text.str(), std::regex("\\bdouble\\b"))) << entry.path();
    EXPECT_FALSE(std::regex_search(text.str(), generic)) << entry.path();
  }
}

// A shuffle of 64-bit integers and of bfloat goes by 32-bit halves and by its bits.
TEST(MetalText, wide_and_bfloat_values_are_shuffled_by_their_bits) {
  for (std::string type : {"i64", "bf16"}) {
    std::string text = kernel(1, "%x: ptr<T>, %y: ptr<T>", R"(
  %i = arange {start = 0} : tile<32xi32>
  %p = splat %x : ptr<T> -> tile<32xptr<T>>
  %q = addptr %p, %i : tile<32xptr<T>>, tile<32xi32>
  %v = load %q : tile<32xptr<T>>
  %m = reduce %v {combine = max, axis = 0} : tile<32xT> -> T
  store %y, %m : ptr<T>
)");
    text = std::regex_replace(text, std::regex("<T>"), "<" + type + ">");
    text = std::regex_replace(text, std::regex("32xT>"), "32x" + type + ">");
    text = std::regex_replace(text, std::regex("-> T\n"), "-> " + type + "\n");
    std::string msl = msl_of(text);
    std::regex shuffle(R"(simd_shuffle_xor\(([^,]*),)");
    for (auto at = std::sregex_iterator(msl.begin(), msl.end(), shuffle);
         at != std::sregex_iterator(); ++at) {
      std::string argument = (*at)[1];
      bool is_bits = contains(argument, "halves") || contains(argument, "as_type<ushort>");
      EXPECT_TRUE(is_bits) << argument << "\n" << msl;
    }
    EXPECT_TRUE(std::regex_search(msl, shuffle)) << msl;
  }
}

}  // namespace
}  // namespace enceladus::metal
