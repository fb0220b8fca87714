// MSL text that Apple's compiler would refuse is refused, with the line; so are launches that do
// not fit the kernel; and a missing clang is named.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernel_runner.h"
#include "simulator/errors.h"

namespace enceladus::simulator {
namespace {

struct Refusal {
  const char* name;
  const char* statement;  // in line 6 of the kernel
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

constexpr Refusal kRefusals[] = {
    {"Double", "double d = 1;"},
    {"UndeclaredName", "x[0] = y;"},
    {"DevicePointerAsThreadgroupPointer", "threadgroup float* p = x;"},
    {"ThreadgroupPointerAsDevicePointer", "device float* p = s;"},
    {"StoreThroughConst", "c[0] = 1;"},
    {"StoreToConstantMemory", "n = 1;"},
    {"SimdSumOfBool", "x[0] = simd_sum(i > 3);"},
    {"SimdSumOfLong", "x[0] = simd_sum(ulong(i));"},
    {"ShuffleOfBfloat", "bfloat b = 1; x[0] = simd_shuffle_xor(b, 1);"},
    {"MathOfBfloat", "bfloat b = 1; x[0] = exp(b);"},
    {"FloatAtomicInThreadgroupMemory",
     "atomic_fetch_add_explicit((threadgroup atomic_float*)s, 1.0f, memory_order_relaxed);"},
    {"FloatAtomicMaximum",
     "atomic_fetch_max_explicit((device atomic_float*)x, 1.0f, memory_order_relaxed);"},
    {"LongAtomicSum",
     "atomic_fetch_add_explicit((device atomic_ulong*)x, 1ul, memory_order_relaxed);"},
    {"AtomicOfAnotherOrder",
     "atomic_fetch_add_explicit((device atomic_int*)x, 1, memory_order_seq_cst);"},
    {"PlainUseOfAnAtomic", "device atomic_uint* a = (device atomic_uint*)x; a[0] += 1;"},
    {"VectorOfWrongSize", "float4 v = float4(1.0f, 2.0f);"},
    {"MatrixOfIntegers", "simdgroup_matrix<int, 8, 8> m;"},
    {"MatrixOfAnotherSize", "simdgroup_matrix<float, 16, 16> m;"},
    {"MatrixFromAnotherType", "simdgroup_half8x8 m; simdgroup_load(m, x, 8);"},
    {"BarrierWithoutFlags", "threadgroup_barrier();"},
    {"UnknownSyntax", "for (;; {"},
};

class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, NameTheLine) {
  std::string body =
      "kernel void k(device float* x, const device float* c, constant uint& n,\n"
      "              uint i [[thread_position_in_grid]]) {\n"
      "  threadgroup float s[32];\n  " +
      std::string(GetParam().statement) + "\n}\n";
  try {
    check_msl(kPreamble + body, {});
    FAIL() << "accepted";
  } catch (const MslError& error) {
    ASSERT_FALSE(error.messages().empty());
    // The first message about the text itself; others may come from inside our headers.
    uint32_t line = 0;
    for (const MslMessage& message : error.messages()) {
      if (line == 0) line = message.line;
    }
    EXPECT_EQ(line, 7u) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Simulator, Refusals, testing::ValuesIn(kRefusals),
                         [](const auto& info) { return std::string(info.param.name); });

void expect_signature_error(const std::string& text, const std::string& message) {
  try {
    read_signature(text, "k");
    FAIL() << "accepted: " << text;
  } catch (const MslError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(Signature, ErrorsNameTheParameter) {
  expect_signature_error("kernel void other() {}", "no `kernel void k(...)`");
  expect_signature_error("kernel void k(device float* x, int n) {}", "`n` is neither");
  expect_signature_error("kernel void k(float* x) {}", "`x` needs an address space");
  expect_signature_error("kernel void k(device float* x [[buffer(SLOT)]]) {}", "must be a number");
  expect_signature_error("kernel void k(device float* x", "does not end");
}

TEST(Signature, ReadsSlotsTypesAndLimits) {
  KernelSignature signature = read_signature(R"(
// kernel void k(device int* commented) {}
[[max_total_threads_per_threadgroup(256)]] kernel void k(
    const device float* __restrict x [[buffer(3)]], constant Scalars& s, device half *y,
    threadgroup float* t [[threadgroup(1)]], uint3 p [[threadgroup_position_in_grid]]) {})",
                                             "k");
  EXPECT_EQ(signature.max_total_threads, 256u);
  ASSERT_EQ(signature.parameters.size(), 5u);
  EXPECT_EQ(signature.parameters[0].slot, 3u);
  EXPECT_EQ(signature.parameters[0].type, "const device float * __restrict");
  EXPECT_TRUE(signature.parameters[0].is_const);
  EXPECT_EQ(signature.parameters[1].slot, 0u);
  EXPECT_TRUE(signature.parameters[1].is_reference);
  EXPECT_EQ(signature.parameters[2].slot, 1u);
  EXPECT_EQ(signature.parameters[3].kind, ParameterKind::kThreadgroup);
  EXPECT_EQ(signature.parameters[4].builtin, Builtin::kThreadgroupPositionInGrid);
}

TEST(Simulator, RefusesLaunchesThatDoNotFit) {
  SimulatedKernel kernel = load_kernel(R"(
[[max_total_threads_per_threadgroup(128)]]
kernel void k(device float* x, threadgroup float* s [[threadgroup(0)]]) {
  threadgroup float own[4096];
  own[0] = 1;
  s[0] = own[0];
  x[0] = s[0];
})");
  EXPECT_EQ(kernel.static_threadgroup_bytes(), 16384u);
  std::vector<float> x(1);
  auto refused = [&](Launch launch) { EXPECT_THROW(launch.run(kernel), std::invalid_argument); };
  refused(Launch().buffer(x).threadgroup_memory(0, 64).threads(129));
  refused(Launch().buffer(x).threadgroup_memory(0, 64).threads(0));
  refused(Launch().buffer(x).threadgroup_memory(0, 16400));
  refused(Launch().buffer(x));
  refused(Launch().threadgroup_memory(0, 64));
}

TEST(Simulator, NamesClangWhenItIsMissing) {
  std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  try {
    check_msl("kernel void k() {}", {});
    ADD_FAILURE() << "no error";
  } catch (const SimulatorUnavailable& error) {
    EXPECT_NE(std::string(error.what()).find("install clang-19"), std::string::npos);
  }
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace enceladus::simulator
