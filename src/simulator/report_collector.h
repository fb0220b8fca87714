// Collects findings while a launch runs, the same fault at the same place once, and turns them into
// reports with lines after the launch. Cheap to call a million times with the same finding.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "simulator/kernel_image.h"
#include "simulator/report.h"

namespace enceladus::simulator {

// Where something happened: an instruction, or a line where the kernel told it.
struct CodePlace {
  uint32_t code = 0;   // offset of the return address in the image; 0 if `place` is known
  uint64_t place = 0;  // line in the high half, column in the low
  auto operator<=>(const CodePlace&) const = default;
};

struct Finding {
  ReportKind kind = ReportKind::kOutOfBounds;
  CodePlace place;
  std::array<uint32_t, 3> program{};
  uint32_t thread = 0;
  bool has_other = false;
  CodePlace other_place;
  std::array<uint32_t, 3> other_program{};
  uint32_t other_thread = 0;
  std::string message;
};

class ReportCollector {
 public:
  explicit ReportCollector(size_t maximum) : maximum_(maximum) {}

  // Whether the finding is new; then complete it with a message and `add` it.
  bool is_new(const Finding& finding);
  void add(Finding finding) { findings_.push_back(std::move(finding)); }
  bool empty() const { return findings_.empty(); }
  Reports finish(const KernelImage& image, const std::string& kernel) const;

 private:
  using Key = std::tuple<ReportKind, CodePlace, CodePlace>;
  static Key key_of(const Finding& finding) {
    return {finding.kind, finding.place, finding.other_place};
  }

  size_t maximum_;
  std::map<Key, uint64_t> counts_;
  std::vector<Finding> findings_;
};

}  // namespace enceladus::simulator
