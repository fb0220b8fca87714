#include "codegen/cpu/compile_cpu.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/cpu/dot_emitter.h"
#include "codegen/cpu/explain.h"
#include "codegen/cpu/kernel_emitter.h"
#include "codegen/cpu/object_code.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::cpu {
namespace {

// A target machine takes most of a millisecond to make, and may not be shared between threads.
llvm::TargetMachine& machine_of_thread() {
  thread_local const std::unique_ptr<llvm::TargetMachine> machine =
      make_target_machine(host_target());
  return *machine;
}

}  // namespace

Artifact compile_cpu(const ir::Function& function, const CpuOptions& options,
                     Stopwatch& stopwatch) {
  const HostTarget& host = host_target();
  Artifact artifact;
  artifact.entry = "enceladus_" + function.name();
  const loop::Plan plan = loop::make_plan(
      function,
      [&](const ir::Operation* dot, loop::Buffer& buffer) { set_dot_layout(host, dot, buffer); });
  artifact.needs_extents = function.options().debug;  // for bounds checks
  ir::walk(function.body(), [&](const ir::Operation* op) {
    artifact.may_not_end = artifact.may_not_end || op->is(ir::Opcode::kWhile);
  });
  const DotLoopPlaces dot_loops = place_dot_loops(host, function, plan);
  artifact.scratch_bytes = plan.scratch_bytes + dot_loops.scratch_bytes;
  const ProgramOrder order = choose_order(plan);
  artifact.walk = order.walk;
  artifact.walk_shares_columns = order.shares_columns;
  stopwatch.lap("loop plan");
  artifact.explain = explain_kernel(function, plan, host);
  stopwatch.lap("explain");

  llvm::LLVMContext context;
  llvm::TargetMachine& machine = machine_of_thread();
  auto module = std::make_unique<llvm::Module>(function.name(), context);
  const bool is_ours = options.llvm_override.empty();
  if (is_ours)
    emit_kernel(*module, host,
                {.function = function,
                 .loops = plan,
                 .dot_loops = dot_loops,
                 .entry = artifact.entry,
                 .walk = artifact.walk});
  else
    module = parse_module(options.llvm_override, context);
  if (options.verify) verify_module(*module);
  module->setTargetTriple(host.triple);
  module->setDataLayout(machine.createDataLayout());
  stopwatch.lap("LLVM IR");

  if (is_ours) optimize_module(*module, machine);
  stopwatch.lap("optimize");
  artifact.stages.emplace_back("llir", print_module(*module));
  stopwatch.lap("print");
  artifact.binary = emit_object(*module, machine);
  stopwatch.lap("object");
  return artifact;
}

}  // namespace enceladus::cpu
