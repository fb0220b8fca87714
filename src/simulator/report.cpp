#include "simulator/report.h"

namespace enceladus::simulator {
namespace {

std::string describe(const Place& place, const std::array<uint32_t, 3>& program, uint32_t thread) {
  std::string text = place.line == 0 ? "unknown line" : "line " + std::to_string(place.line);
  if (!place.source.empty()) text = place.source + " (MSL " + text + ")";
  text += ", program (" + std::to_string(program[0]) + ", " + std::to_string(program[1]) + ", " +
          std::to_string(program[2]) + "), thread " + std::to_string(thread);
  if (!place.text.empty()) text += "\n      | " + place.text;
  return text;
}

}  // namespace

const char* name_of(ReportKind kind) {
  switch (kind) {
    case ReportKind::kOutOfBounds:
      return "out of bounds";
    case ReportKind::kMisaligned:
      return "misaligned access";
    case ReportKind::kUninitialized:
      return "uninitialized threadgroup memory";
    case ReportKind::kRace:
      return "race";
    case ReportKind::kReadOnlyWrite:
      return "store to read-only memory";
    case ReportKind::kDivergentSimd:
      return "divergent SIMD operation";
    case ReportKind::kDivergentBarrier:
      return "divergent barrier";
    case ReportKind::kInactiveLane:
      return "shuffle from an inactive lane";
    case ReportKind::kEndlessLoop:
      return "endless loop";
    case ReportKind::kForeignStack:
      return "access to another thread's memory";
    case ReportKind::kStackOverflow:
      return "stack overflow";
  }
  return "";
}

std::string to_string(const Report& report) {
  std::string text = report.kernel + ": " + name_of(report.kind) + ": " + report.message +
                     "\n    " + describe(report.place, report.program, report.thread);
  if (report.has_other) {
    text += "\n    the other: " +
            describe(report.other_place, report.other_program, report.other_thread);
  }
  if (report.count > 1) text += "\n    (" + std::to_string(report.count) + " times)";
  return text;
}

}  // namespace enceladus::simulator
