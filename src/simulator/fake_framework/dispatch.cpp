#include "simulator/fake_framework/dispatch.h"

#include <algorithm>

#include "simulator/fake_framework/settings.h"

namespace enceladus::fake_metal {
namespace {

CommandFailure released(const char* what) {
  std::string text = std::string(what) +
                     " was released before the command buffer had run, which does not retain it";
  Ledger::get().note_violation(text);
  return {CommandError::kInvalidResource, text};
}

bool is_constant(const simulator::KernelSignature& signature, uint32_t slot) {
  for (const simulator::KernelParameter& parameter : signature.parameters) {
    bool in_buffer = parameter.kind == simulator::ParameterKind::kBuffer ||
                     parameter.kind == simulator::ParameterKind::kConstant;
    if (in_buffer && parameter.slot == slot) return parameter.is_const;
  }
  return false;
}

simulator::BoundMemory bound_memory(const simulator::KernelSignature& signature, uint32_t slot,
                                    const Binding& binding) {
  simulator::BoundMemory memory;
  memory.slot = slot;
  memory.constants = binding.buffer == nullptr;
  memory.read_only = memory.constants || is_constant(signature, slot);
  if (memory.constants) {
    memory.data = binding.bytes.data();
    memory.bytes = binding.bytes.size();
  } else {
    memory.data = body_of<Buffer>(binding.buffer)->data() + binding.offset;
    memory.bytes = binding.extent;
    memory.whole_words = binding.is_array;
  }
  return memory;
}

simulator::LaunchRequest request_of(const Dispatch& dispatch, const Pipeline& pipeline) {
  Settings& settings = Settings::get();
  simulator::LaunchRequest request;
  for (const auto& [slot, binding] : dispatch.bindings) {
    request.bindings.push_back(bound_memory(pipeline.kernel().signature(), slot, binding));
  }
  request.threadgroup_memory = dispatch.threadgroup_memory;
  request.grid = dispatch.grid;
  request.threads = dispatch.threads;
  request.schedule = settings.schedule;
  request.seed = settings.seed++;
  request.strict = settings.strict;
  request.fragment_layout = settings.fragment_layout;
  request.watchdog_steps = settings.watchdog_steps;
  return request;
}

CommandFailure failure_of(const simulator::Reports& reports) {
  using simulator::ReportKind;
  CommandFailure failure{CommandError::kInternal, ""};
  for (const simulator::Report& report : reports) {
    failure.text += (failure.text.empty() ? "" : "\n\n") + simulator::to_string(report);
    if (report.kind == ReportKind::kOutOfBounds || report.kind == ReportKind::kReadOnlyWrite) {
      failure.code = CommandError::kPageFault;
    } else if (report.kind == ReportKind::kEndlessLoop && failure.code == CommandError::kInternal) {
      failure.code = CommandError::kTimeout;
    }
  }
  return failure;
}

}  // namespace

std::optional<CommandFailure> run_dispatch(const Dispatch& dispatch, CommandRun& run) {
  const Pipeline* pipeline = body_of<Pipeline>(dispatch.pipeline);
  if (pipeline == nullptr) return released("a pipeline state");
  for (const auto& [slot, binding] : dispatch.bindings) {
    if (binding.buffer != nullptr && body_of<Buffer>(binding.buffer) == nullptr) {
      return released("a buffer");
    }
  }
  uint64_t launch = run.launches++;
  if (!Settings::get().executes) return std::nullopt;
  simulator::LaunchRequest request = request_of(dispatch, *pipeline);
  if (pipeline->logs()) request.log = &run.log;
  try {
    simulator::Reports reports = pipeline->kernel().run(request);
    if (reports.empty()) return std::nullopt;
    for (const simulator::Report& report : reports) run.reports.push_back({report, "", launch});
    return failure_of(reports);
  } catch (const std::bad_alloc&) {
    return CommandFailure{CommandError::kOutOfMemory,
                          "the simulator has no memory for this launch"};
  } catch (const std::exception& error) {
    return CommandFailure{CommandError::kInternal, error.what()};
  }
}

}  // namespace enceladus::fake_metal
