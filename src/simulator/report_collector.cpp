#include "simulator/report_collector.h"

#include <algorithm>

namespace enceladus::simulator {
namespace {

// An unrolled loop or an inlined function has a line's instructions several times.
bool same_fault(const Report& a, const Report& b) {
  return a.kind == b.kind && a.place.line != 0 && a.place.line == b.place.line &&
         a.place.column == b.place.column && a.has_other == b.has_other &&
         a.other_place.line == b.other_place.line && a.other_place.column == b.other_place.column;
}

}  // namespace

bool ReportCollector::is_new(const Finding& finding) {
  auto [entry, inserted] = counts_.try_emplace(key_of(finding), 0);
  ++entry->second;
  return inserted && findings_.size() < maximum_;
}

Reports ReportCollector::finish(const KernelImage& image, const std::string& kernel) const {
  std::vector<uint32_t> codes;
  for (const Finding& finding : findings_) {
    for (const CodePlace& place : {finding.place, finding.other_place}) {
      if (place.code != 0) codes.push_back(place.code);
    }
  }
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  std::vector<Place> places = image.places_of(codes);
  auto place_of = [&](const CodePlace& where) {
    if (where.code == 0) {
      return image.place_of_line(static_cast<uint32_t>(where.place >> 32),
                                 static_cast<uint32_t>(where.place));
    }
    return places[std::lower_bound(codes.begin(), codes.end(), where.code) - codes.begin()];
  };

  Reports reports;
  for (const Finding& finding : findings_) {
    Report report;
    report.kind = finding.kind;
    report.kernel = kernel;
    report.message = finding.message;
    report.place = place_of(finding.place);
    report.program = finding.program;
    report.thread = finding.thread;
    report.has_other = finding.has_other;
    if (finding.has_other) {
      report.other_place = place_of(finding.other_place);
      report.other_program = finding.other_program;
      report.other_thread = finding.other_thread;
    }
    report.count = counts_.at(key_of(finding));
    auto same = std::find_if(reports.begin(), reports.end(),
                             [&](const Report& known) { return same_fault(known, report); });
    if (same != reports.end()) {
      same->count += report.count;
    } else {
      reports.push_back(std::move(report));
    }
  }
  return reports;
}

}  // namespace enceladus::simulator
