// Emitted kernels with planted faults: in the text that the compiler makes of each kernel, one line
// after the other loses its barrier or its mask, accesses another place, or has its SIMD operation
// in divergent control flow. The simulator must report every one at that line, and nothing in the
// text as it was. (A barrier that can go without a report would be one too many.)
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <optional>
#include <regex>
#include <sstream>

#include "codegen/metal/compile_metal.h"
#include "ir/parser.h"
#include "simulator/simulated_kernel.h"

namespace enceladus::metal {
namespace {

using simulator::Report;
using simulator::ReportKind;
using simulator::Reports;

struct Planted {
  std::string what;
  uint32_t line;  // from 1
  std::string text;
  std::function<bool(const Report&)> is_right;
};

// Removing what stands between two accesses is reported at one before and one behind it; in a loop,
// the one behind it may come round from its beginning.
bool is_around(const Report& report, uint32_t line) {
  if (report.kind == ReportKind::kUninitialized) return report.place.line > line;
  if (report.kind != ReportKind::kRace) return false;
  uint32_t low = std::min(report.place.line, report.other_place.line);
  uint32_t high = std::max(report.place.line, report.other_place.line);
  return (low < line && line < high) || report.other_place.line > report.place.line ||
         report.other_place.line == report.place.line;
}

std::function<bool(const Report&)> at(uint32_t line, ReportKind kind) {
  return [=](const Report& report) { return report.kind == kind && report.place.line == line; };
}

// One way to break a line; nothing where it does not apply.
struct Rule {
  const char* what;
  std::regex pattern;
  const char* replacement;
  std::optional<ReportKind> kind;  // none: around the line
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
      {"barrier removed", std::regex(R"(threadgroup_barrier\(mem_flags::mem_threadgroup\);)"), "",
       std::nullopt},
      {"mask of a load removed", std::regex(R"(\w+\[r\] \? (\*\(.*\)) : .*;)"), "$1;",
       ReportKind::kOutOfBounds},
      {"mask of a store removed", std::regex(R"(if \(\w+\[r\]\) (?=\*\())"), "",
       ReportKind::kOutOfBounds},
      {"owner of a store dropped", std::regex(R"(if \(\w+\) (?=\*\(buffer))"), "",
       ReportKind::kRace},
      {"offset shifted", std::regex(R"(((?:\*|enc_\w+)(?:\([a-z0-9 ]+\*\))?\(+)(\w+) \+ )"),
       "$1$2 + 4096 + ", ReportKind::kOutOfBounds},
      {"SIMD operation made divergent", std::regex(R"(^ *([\w\[\]]+ = simd_\w+\(.*)$)"),
       "if (lane != 5u) $1", ReportKind::kDivergentSimd},
  };
  return kRules;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string with_line(std::vector<std::string> lines, size_t index, const std::string& line) {
  lines[index] = line;
  std::string text;
  for (const std::string& one : lines) text += one + "\n";
  return text;
}

// At most three of each kind: shuffles of one reduction are all alike.
std::vector<Planted> plant(const std::string& msl) {
  std::vector<Planted> planted;
  std::vector<std::string> lines = lines_of(msl);
  for (const Rule& rule : rules()) {
    size_t left = 3;
    for (size_t i = 0; i < lines.size() && left > 0; ++i) {
      if (lines[i].starts_with("inline") || lines[i].starts_with("//")) continue;
      std::string changed = std::regex_replace(lines[i], rule.pattern, rule.replacement,
                                               std::regex_constants::format_first_only);
      if (changed == lines[i]) continue;
      auto line = static_cast<uint32_t>(i + 1);
      std::function<bool(const Report&)> is_right =
          rule.kind ? at(line, *rule.kind)
                    : [line](const Report& report) { return is_around(report, line); };
      planted.push_back({rule.what, line, with_line(lines, i, changed), std::move(is_right)});
      --left;
    }
  }
  return planted;
}

struct Kernel {
  const char* name;
  std::vector<size_t> bytes;  // of its arrays, which hold zeros
  int32_t scalar;
  uint32_t grid;
  size_t faults;  // that can be planted, at least
};

void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.name; }

Artifact compiled(const Kernel& kernel) {
  std::ifstream file(std::string(ENCELADUS_PLANTED) + "/" + kernel.name + ".enc");
  std::stringstream text;
  text << file.rdbuf();
  return compile_metal(*ir::parse(text.str()));
}

Reports launch(const Kernel& kernel, const Artifact& artifact, const std::string& msl,
               simulator::Schedule schedule) {
  auto simulated = simulator::SimulatedKernel::load(msl, artifact.entry, {});
  std::vector<std::vector<std::byte>> arrays;
  for (size_t bytes : kernel.bytes) arrays.emplace_back(bytes);
  simulator::LaunchRequest request;
  uint32_t slot = 0;
  for (std::vector<std::byte>& array : arrays) {
    request.bindings.push_back({slot++, array.data(), array.size(), false, false});
  }
  request.bindings.push_back({slot, &kernel.scalar, sizeof kernel.scalar, true, true});
  request.grid = {kernel.grid, 1, 1};
  request.threads = {static_cast<uint32_t>(32 * artifact.num_warps), 1, 1};
  request.schedule = schedule;
  request.watchdog_steps = 10'000'000;
  return simulated.run(request);
}

std::string texts(const Reports& reports) {
  std::string text;
  for (const Report& report : reports) text += simulator::to_string(report) + "\n";
  return text;
}

class PlantedFaults : public testing::TestWithParam<Kernel> {};

TEST_P(PlantedFaults, are_all_reported_at_their_line) {
  using simulator::Schedule;
  const Kernel& kernel = GetParam();
  Artifact artifact = compiled(kernel);
  const std::string& msl = artifact.stages.back().second;
  for (Schedule schedule : {Schedule::kInOrder, Schedule::kReversed}) {
    Reports reports = launch(kernel, artifact, msl, schedule);
    ASSERT_TRUE(reports.empty()) << texts(reports) << msl;
  }
  std::vector<Planted> planted = plant(msl);
  EXPECT_GE(planted.size(), kernel.faults);
  for (const Planted& fault : planted) {
    std::string found;
    bool right = false;
    for (Schedule schedule : {Schedule::kInOrder, Schedule::kReversed}) {
      Reports reports = launch(kernel, artifact, fault.text, schedule);
      for (const Report& report : reports) right = right || fault.is_right(report);
      found += texts(reports);
    }
    EXPECT_TRUE(right) << fault.what << " in line " << fault.line << ":\n"
                       << lines_of(msl)[fault.line - 1] << "\n"
                       << found;
  }
}

// Masks leave out the last elements; 4096 elements beyond an array is nothing.
const Kernel kKernels[] = {
    {"softmax", {4 * 200 * 4, 4 * 200 * 4}, 200, 4, 13},
    {"running", {1000 * 4, 1000 * 4}, 1000, 1, 13},
    {"transpose", {4096, 4096}, 32, 1, 2},
    {"matmul", {2048, 2048, 4096}, 64, 1, 5},
    {"histogram", {1000 * 4, 256 * 4}, 1000, 4, 3},
};

INSTANTIATE_TEST_SUITE_P(Metal, PlantedFaults, testing::ValuesIn(kKernels),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace enceladus::metal
