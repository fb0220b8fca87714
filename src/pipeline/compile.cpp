#include "pipeline/compile.h"

#include "analysis/cost.h"
#include "analysis/memory_use.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "pipeline/targets.h"
#include "support/check.h"
#include "transforms/tile_passes.h"

namespace enceladus::pipeline {

// Chains of many thousand operations overflow the stack in what follows, LLVM included.
constexpr int64_t kMostOperations = 20000;

void check_size(const ir::Function& function, const std::string& target) {
  int64_t count = 0;
  ir::walk(function.body(), [&](const ir::Operation*) { ++count; });
  if (count <= kMostOperations) return;
  fail(DiagnosticId::kNotAvailableOnTarget, function.location(),
       {"a kernel of " + std::to_string(count) + " operations", target,
        "at most " + std::to_string(kMostOperations) +
            " compile; write `range` or `tl.range` in place of `tl.static_range`, which repeats "
            "its body"});
}

void check_well_formed(const ir::Function& function, std::string_view after) {
  std::vector<std::string> mistakes = ir::verify(function);
  if (mistakes.empty()) return;
  std::string detail = "after " + std::string(after) + ":";
  for (const std::string& mistake : mistakes) detail += "\n  " + mistake;
  ENC_CHECK(mistakes.empty(), detail + "\n" + ir::print(function));
}

namespace {

std::vector<Parameter> parameters_of(const ir::Function& function) {
  std::vector<analysis::ParameterUse> uses = analysis::parameter_uses(function);
  std::vector<Parameter> parameters;
  for (const ir::ParameterInfo& info : function.parameters()) {
    const analysis::ParameterUse& use = uses[parameters.size()];
    parameters.push_back({.name = info.name,
                          .dtype = info.type.dtype(),
                          .is_pointer = info.type.is_pointer(),
                          .is_read = use.is_read,
                          .is_written = use.is_written});
  }
  return parameters;
}

Artifact compile_for_target(ir::Function& function, const CompileOptions& options,
                            Stopwatch& stopwatch) {
  if (options.target == "cpu") return compile_cpu(function, options, stopwatch);
  if (options.target == "metal" || options.target == "metal-sim")
    return compile_metal(function, options, stopwatch);
  if (options.target == "cuda") return compile_cuda(function, options, stopwatch);
  fail(DiagnosticId::kNotAvailableOnTarget, function.location(),
       {function.name(), options.target, "this build compiles for cpu, cuda and metal"});
}

// What is known of a kernel whatever it is compiled for.
void describe(const ir::Function& function, Artifact& artifact) {
  analysis::Cost cost = analysis::estimate_cost(function);
  artifact.kernel = function.name();
  artifact.num_warps = function.options().num_warps;
  artifact.parameters = parameters_of(function);
  artifact.bytes_per_program = cost.bytes;
  artifact.operations_per_program = cost.operations;
  artifact.stages.emplace_back("ir", ir::print(function, {.source_lines = true}));
}

// Adds that to what the target made.
void adopt(Artifact&& description, Artifact& artifact) {
  artifact.kernel = std::move(description.kernel);
  artifact.num_warps = description.num_warps;
  artifact.parameters = std::move(description.parameters);
  artifact.bytes_per_program = description.bytes_per_program;
  artifact.operations_per_program = description.operations_per_program;
  artifact.stages.insert(artifact.stages.begin(), std::move(description.stages.front()));
}

}  // namespace

CompileResult compile(std::unique_ptr<ir::Function> function, const CompileOptions& options) {
  Stopwatch stopwatch;
  check_size(*function, options.target);
  check_well_formed(*function, "the frontend");
  transforms::optimize(*function, [&](std::string_view pass) {
    if (options.verification == Verification::kAfterEveryPass) check_well_formed(*function, pass);
  });
  stopwatch.lap("tile passes");

  // Before a target's own passes change the function.
  Artifact description;
  describe(*function, description);
  stopwatch.lap("description");
  CompileResult result;
  result.artifact = compile_for_target(*function, options, stopwatch);
  result.artifact.target = options.target;
  adopt(std::move(description), result.artifact);
  result.times = stopwatch.take();
  return result;
}

}  // namespace enceladus::pipeline
