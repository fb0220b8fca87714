#include "simulator/fake_framework/control.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>

#include "simulator/fake_framework/capture.h"
#include "simulator/fake_framework/classes.h"
#include "simulator/fake_framework/compute_encoder.h"
#include "simulator/fake_framework/device.h"
#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/settings.h"
#include "simulator/fake_framework/time_inside.h"
#include "support/json.h"

namespace fake = enceladus::fake_metal;

namespace enceladus::fake_metal {
namespace {

// Copies as much as fits and gives the whole length.
int64_t copy_text(const std::string& text, char* to, int64_t capacity) {
  if (to != nullptr && capacity > 0) {
    size_t count = std::min<size_t>(text.size(), static_cast<size_t>(capacity) - 1);
    std::memcpy(to, text.data(), count);
    to[count] = '\0';
  }
  return static_cast<int64_t>(text.size());
}

// A text that is taken: it stays until a caller had room for all of it.
template <class Take>
int64_t give_once(std::string& kept, char* to, int64_t capacity, Take take) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (kept.empty()) kept = take();
  std::string text = kept;
  if (to != nullptr && capacity > static_cast<int64_t>(text.size())) kept.clear();
  return copy_text(text, to, capacity);
}

std::string violations_text() {
  JsonWriter json;
  json.begin_list();
  for (const std::string& text : Ledger::get().take_violations()) json.field({}, text);
  json.end_list();
  return json.text();
}

void write_place(JsonWriter& json, std::string_view name, const simulator::Place& place,
                 const std::array<uint32_t, 3>& program, uint32_t thread) {
  json.begin_object(name);
  json.field("line", int64_t{place.line});
  json.field("column", int64_t{place.column});
  json.field("text", place.text);
  json.field("source", place.source);
  json.begin_list("program");
  for (uint32_t index : program) json.field({}, int64_t{index});
  json.end_list();
  json.field("thread", int64_t{thread});
  json.end_object();
}

void write_report(JsonWriter& json, const LaunchReport& one) {
  const simulator::Report& report = one.report;
  json.begin_object();
  json.field("kind", simulator::name_of(report.kind));
  json.field("kernel", report.kernel);
  json.field("message", report.message);
  write_place(json, "place", report.place, report.program, report.thread);
  if (report.has_other) {
    write_place(json, "other", report.other_place, report.other_program, report.other_thread);
  }
  json.field("count", static_cast<int64_t>(report.count));
  json.field("command_buffer", one.command_buffer);
  json.field("launch", static_cast<int64_t>(one.launch));
  json.end_object();
}

std::string reports_text() {
  JsonWriter json;
  json.begin_list();
  for (const LaunchReport& report : Ledger::get().take_reports()) write_report(json, report);
  json.end_list();
  return json.text();
}

void write_calls(JsonWriter& json, const std::string& name, uint64_t calls, bool can_fail) {
  json.begin_object(name);
  json.field("calls", static_cast<int64_t>(calls));
  json.field("can_fail", can_fail);
  json.end_object();
}

// Objects that the process keeps for itself.
int64_t lasting(const Class& type) {
  return &type == &Device::type() || &type == &CaptureManager::type() ? 1 : 0;
}

int64_t live_of(const Class& type) {
  return std::max<int64_t>(0, type.alive.load() - lasting(type));
}

}  // namespace
}  // namespace enceladus::fake_metal

void enceladus_sim_set_family(uint64_t family, int32_t metal4) {
  fake::Settings::get().apple_family = family;
  fake::Settings::get().has_metal4 = metal4 != 0;
}
void enceladus_sim_set_has_logs(int32_t has_logs) {
  fake::Settings::get().has_logs = has_logs != 0;
}
void enceladus_sim_set_schedule(int32_t kind, uint64_t seed) {
  fake::Settings::get().schedule = static_cast<enceladus::simulator::Schedule>(kind);
  fake::Settings::get().seed = seed;
}
void enceladus_sim_set_strict(int32_t strict) { fake::Settings::get().strict = strict != 0; }
void enceladus_sim_set_fragment_layout(int32_t layout) {
  using enceladus::simulator::FragmentLayout;
  fake::Settings::get().fragment_layout =
      layout == 0 ? FragmentLayout::kApple : FragmentLayout::kPermuted;
}
void enceladus_sim_set_watchdog(uint64_t steps) { fake::Settings::get().watchdog_steps = steps; }
void enceladus_sim_set_executes(int32_t executes) {
  fake::Settings::get().executes = executes != 0;
}
void enceladus_sim_set_records(int32_t records) { fake::Settings::get().records = records != 0; }
void enceladus_sim_set_delay(int64_t microseconds) {
  fake::Settings::get().completion_delay_us = microseconds;
}

void enceladus_sim_inject(const char* call, int64_t skip) {
  fake::Ledger::get().inject(call, static_cast<uint64_t>(skip) + 1,
                             "a test made " + std::string(call) + " fail");
}
void enceladus_sim_clear_injections() { fake::Ledger::get().clear_injections(); }

int64_t enceladus_sim_calls(char* text, int64_t capacity) {
  enceladus::JsonWriter json;
  json.begin_object();
  for (const auto& [name, calls] : fake::Ledger::get().functions_called()) {
    fake::write_calls(json, name, calls, true);
  }
  for (const fake::Class* type : fake::all_classes()) {
    for (const fake::Class::Entry& entry : type->entries()) {
      if (entry.calls == 0) continue;
      fake::write_calls(json, std::string("-[") + type->name() + " " + entry.method.selector + "]",
                        entry.calls, entry.method.failure != fake::Failure::kNever);
    }
  }
  json.end_object();
  return fake::copy_text(json.text(), text, capacity);
}
void enceladus_sim_reset_calls() {
  fake::Ledger::get().reset_calls();
  for (const fake::Class* type : fake::all_classes()) {
    for (const fake::Class::Entry& entry : type->entries()) entry.calls = 0;
  }
}

int64_t enceladus_sim_take_violations(char* text, int64_t capacity) {
  static std::string& kept = *new std::string;
  return fake::give_once(kept, text, capacity, fake::violations_text);
}
int64_t enceladus_sim_take_reports(char* text, int64_t capacity) {
  static std::string& kept = *new std::string;
  return fake::give_once(kept, text, capacity, fake::reports_text);
}

int64_t enceladus_sim_live_objects() {
  int64_t count = 0;
  for (const fake::Class* type : fake::all_classes()) count += fake::live_of(*type);
  return count;
}
int64_t enceladus_sim_report_objects(char* text, int64_t capacity) {
  enceladus::JsonWriter json;
  json.begin_object();
  for (const fake::Class* type : fake::all_classes()) {
    if (int64_t count = fake::live_of(*type); count > 0) json.field(type->name(), count);
  }
  json.end_object();
  return fake::copy_text(json.text(), text, capacity);
}
int64_t enceladus_sim_nanoseconds_inside() { return fake::TimeInside::nanoseconds(); }

void enceladus_sim_set_extent(Object* encoder, uint64_t slot, uint64_t bytes) {
  const fake::TimeInside inside;
  auto* body = fake::body_of<fake::ComputeEncoder>(encoder);
  if (body == nullptr) {
    fake::Ledger::get().note_violation("enceladus_sim_set_extent: that is no open encoder");
    return;
  }
  try {
    body->set_extent(slot, bytes);
  } catch (const fake::ContractViolation& violation) {
    fake::Ledger::get().note_violation(violation.what());
    body->fail(violation.what());
  }
}
