// Hand-written kernels with a known fault, each beside its corrected twin: the twin is the body,
// the fault is one replacement in it. A report of that kind must name the line marked /*here*/ (a
// race has two lines), and the twin must give no report.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "kernel_runner.h"

namespace enceladus::simulator {
namespace {

struct Fault {
  const char* name;
  ReportKind kind;
  const char* body;  // without the fault
  const char* from;  // what to replace in it
  const char* to;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

// All kernels take buffer(0) of 256 floats, buffer(1) of 256 uints and 60 as a constant; they run
// with two programs of 64 threads and 256 bytes of threadgroup memory as an argument.
constexpr Fault kFaults[] = {
    {"MissingBarrier", ReportKind::kRace, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float s[64];
  s[t] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = s[63 - t]; /*here*/
})",
     "  threadgroup_barrier(mem_flags::mem_threadgroup);\n", "\n"},

    {"BarrierMissingAtLoopEnd", ReportKind::kRace, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float s[64];
  float sum = 0;
  for (uint n = 0; n < 3; ++n) {
    s[t] = i + n; /*here*/
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += s[63 - t];
    threadgroup_barrier(mem_flags::mem_none | mem_flags::mem_threadgroup);
  }
  out[i] = sum;
})",
     "    threadgroup_barrier(mem_flags::mem_none | mem_flags::mem_threadgroup);\n", "\n"},

    {"DeviceBarrierForThreadgroupMemory", ReportKind::kRace, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float s[64];
  s[t] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = s[63 - t]; /*here*/
})",
     "mem_flags::mem_threadgroup", "mem_flags::mem_device"},

    {"ThreadgroupBarrierForDeviceMemory", ReportKind::kRace, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  words[i] = i;
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = words[i - t + 63 - t]; /*here*/
})",
     "mem_flags::mem_device", "mem_flags::mem_threadgroup"},

    {"RaceBetweenPrograms", ReportKind::kRace, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  words[i] = t; /*here*/
})",
     "words[i]", "words[t]"},

    {"PlainSumBesideAtomics", ReportKind::kRace, R"(
kernel void k(device float* out, device atomic_uint* words, constant uint& count,
              uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(words, 1, memory_order_relaxed); /*here*/
})",
     "atomic_fetch_add_explicit(words, 1, memory_order_relaxed);", "*(device uint*)words += 1;"},

    {"RaceWithinSimdGroup", ReportKind::kRace, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float s[64];
  s[t] = i;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = s[t ^ 1]; /*here*/
})",
     "  simdgroup_barrier(mem_flags::mem_threadgroup);\n", "\n"},

    {"SimdBarrierForTwoSimdGroups", ReportKind::kRace, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float s[64];
  s[t] = i;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = s[t ^ 1]; /*here*/
})",
     "s[t ^ 1]", "s[t ^ 32]"},

    {"ScalarInThreadgroupMemory", ReportKind::kRace, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float total;
  if (t == 0) total = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = total; /*here*/
})",
     "  threadgroup_barrier(mem_flags::mem_threadgroup);\n", "\n"},

    {"BytesOfOneWord", ReportKind::kRace, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  device uchar* bytes = (device uchar*)words;
  bytes[i * 2] = t; /*here*/
})",
     "bytes[i * 2]", "bytes[i - i % 2]"},

    {"UninitializedThreadgroupMemory", ReportKind::kUninitialized, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float s[64];
  if (t < 64) s[t] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = s[63 - t]; /*here*/
})",
     "t < 64", "t < 60"},

    {"ValuesOfAnEarlierProgram", ReportKind::kUninitialized, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float s[64];
  if (i < 500) s[t] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = s[t]; /*here*/
})",
     "i < 500", "i < 64"},

    {"UninitializedThreadgroupArgument", ReportKind::kUninitialized, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              threadgroup float* s [[threadgroup(0)]], uint i [[thread_position_in_grid]],
              uint t [[thread_index_in_threadgroup]]) {
  s[t] = 0;
  s[t] += i; /*here*/
  out[i] = s[t];
})",
     "  s[t] = 0;\n", "\n"},

    {"LoadBeyondTheEnd", ReportKind::kOutOfBounds, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]]) {
  out[i] = words[i * 2]; /*here*/
})",
     "words[i * 2]", "words[i * 2 + 2]"},

    {"StoreBeforeTheStart", ReportKind::kOutOfBounds, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]]) {
  out[int(i) + 1] = 1; /*here*/
})",
     "int(i) + 1", "int(i) - 1"},

    {"WildAddress", ReportKind::kOutOfBounds, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]]) {
  out[ulong(i)] = 1; /*here*/
})",
     "ulong(i)", "ulong(i) << 40 | 1ul << 50"},

    {"BeyondAThreadgroupArray", ReportKind::kOutOfBounds, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float s[64];
  s[t] = i; /*here*/
  out[i] = s[t];
})",
     "s[64]", "s[60]"},

    {"WideLoadAcrossTheEnd", ReportKind::kOutOfBounds, R"(
kernel void k(device float4* out, device uint4* words, constant uint& count,
              uint i [[thread_position_in_grid]]) {
  if (i * 4 < count) out[i] = float4(words[i].x); /*here*/
  if (i < 64 && i * 4 >= 256) out[i] = 0;
})",
     "i * 4 < count", "i * 4 < count + 200"},

    {"MisalignedVector", ReportKind::kMisaligned, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]]) {
  if (i < 32) *(device float4*)(out + i * 4) = 1; /*here*/
})",
     "i * 4)", "i * 4 + 2)"},

    {"StoreToReadOnlyBuffer", ReportKind::kReadOnlyWrite, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]]) {
  out[i] = 1;
  const device uint* source = words;
  out[i] = *source;
  if (i == 0) out[0] = count; /*here*/
})",
     "out[0] = count", "*(device uint*)(ulong)(&count) = 1"},

    {"SimdSumInABranch", ReportKind::kDivergentSimd, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  if (t < 32) {
    out[i] = simd_sum(float(i)); /*here*/
  }
})",
     "t < 32", "t < 20"},

    {"TwoSimdOperationsInOneExpression", ReportKind::kDivergentSimd, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  float x = i;
  out[i] = t >= 32 ? simd_sum(x) : simd_sum(-x); /*here*/
})",
     "t >= 32", "t % 2 == 0"},

    {"EarlyReturnBeforeShuffle", ReportKind::kDivergentSimd, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  if (t >= 64) return;
  float x = simd_shuffle_xor(float(t), 1); /*here*/
  out[i] = x;
})",
     "t >= 64", "t >= 50"},

    {"MatrixLoadInABranch", ReportKind::kDivergentSimd, R"(
#include <metal_simdgroup_matrix>
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
  if (t < 32)
    simdgroup_store(m, out + i / 64 * 64); /*here*/
})",
     "t < 32", "t < 31"},

    {"ShuffleBeyondTheGroup", ReportKind::kInactiveLane, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  out[i] = simd_shuffle(float(t), (t + 1) % 32); /*here*/
})",
     "(t + 1) % 32", "t % 32 + 1"},

    {"BarrierInABranch", ReportKind::kDivergentBarrier, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  if (count > 1) {
    threadgroup_barrier(mem_flags::mem_threadgroup); /*here*/
  }
  out[i] = 1;
})",
     "count > 1", "t < 32"},

    {"BarrierInALoopOfUnequalLength", ReportKind::kDivergentBarrier, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  for (uint n = 0; n < count / 20; ++n) {
    threadgroup_barrier(mem_flags::mem_threadgroup); /*here*/
  }
  out[i] = 1;
})",
     "n < count / 20", "n < 1 + t / 32"},

    {"PrivateArrayBeyondTheStack", ReportKind::kStackOverflow, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]]) { /*here*/
  float values[600];
  for (uint n = 0; n < 600; ++n) values[n] = i + n;
  out[i] = values[count * 2 + words[i]];
})",
     "values[600]", "values[90000]"},

    {"EndlessLoop", ReportKind::kEndlessLoop, R"(
kernel void k(device float* out, device uint* words, constant uint& count,
              uint i [[thread_position_in_grid]]) {
  uint n = i;
  while (n != count * 2) n += 1; /*here*/
  out[i] = n;
})",
     "n += 1", "n += 1 & count"},

    {"SpinOnAnotherThread", ReportKind::kEndlessLoop, R"(
kernel void k(device float* out, device atomic_uint* words, constant uint& count,
              uint i [[thread_position_in_grid]]) {
  if (i == 1) atomic_store_explicit(words, 1, memory_order_relaxed);
  while (i > 1 && atomic_load_explicit(words, memory_order_relaxed) == 0) /*here*/
    continue;
  out[i] = 1;
})",
     "i > 1 &&", ""},
};

std::string replaced(const Fault& fault) {
  std::string text = fault.body;
  size_t at = text.find(fault.from);
  if (at == std::string::npos) return "";
  return text.replace(at, std::string(fault.from).size(), fault.to);
}

uint32_t marked_line(const std::string& text) {
  std::string before = kPreamble + text.substr(0, text.find("/*here*/"));
  return 1 + static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n'));
}

Reports launch(const std::string& body) {
  SimulatedKernel kernel = load_kernel(body);
  std::vector<float> out(256);
  std::vector<uint32_t> words(256);
  uint32_t count = 60;
  Launch launch;
  launch.buffer(out).buffer(words).constant(count).threadgroup_memory(0, 256).grid(2);
  launch.request().watchdog_steps = 1'000'000;
  return launch.run(kernel);
}

class Faults : public testing::TestWithParam<Fault> {};

TEST_P(Faults, AreReportedAndTheirTwinsAreNot) {
  const Fault& fault = GetParam();
  Reports twin = launch(fault.body);
  EXPECT_TRUE(twin.empty()) << texts(twin);

  std::string faulty = replaced(fault);
  ASSERT_NE(faulty, "") << "nothing to replace";
  Reports reports = launch(faulty);
  uint32_t line = marked_line(faulty);
  bool found = false;
  for (const Report& report : reports) {
    bool here = report.place.line == line || (report.has_other && report.other_place.line == line);
    found = found || (report.kind == fault.kind && here);
    // Where a barrier is missing, a thread may also read what is not written yet.
    bool explained = report.kind == fault.kind ||
                     (fault.kind == ReportKind::kRace && report.kind == ReportKind::kUninitialized);
    EXPECT_TRUE(explained) << to_string(report);
  }
  EXPECT_TRUE(found) << "no " << name_of(fault.kind) << " in line " << line << ":\n"
                     << texts(reports);
}

INSTANTIATE_TEST_SUITE_P(Simulator, Faults, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace enceladus::simulator
