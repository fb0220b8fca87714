#include "codegen/cpu/compile_cpu.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>

#include "analysis/cost.h"
#include "analysis/memory_use.h"
#include "codegen/cpu/dot_emitter.h"
#include "codegen/cpu/kernel_emitter.h"
#include "codegen/cpu/object_code.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::cpu {
namespace {

std::vector<Parameter> describe_parameters(const ir::Function& function) {
  const std::vector<analysis::ParameterUse> uses = analysis::parameter_uses(function);
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

int64_t product_scratch_bytes(const ir::Function& function, const HostTarget& host) {
  int64_t bytes = 0;
  ir::walk(function.body(), [&](const ir::Operation* op) {
    if (op->is(ir::Opcode::kDot)) bytes = std::max(bytes, dot_scratch_bytes(host, op));
  });
  return bytes;
}

}  // namespace

Artifact compile_cpu(const ir::Function& function, const CpuOptions& options) {
  const HostTarget& host = host_target();
  Artifact artifact;
  artifact.target = "cpu";
  artifact.kernel = function.name();
  artifact.entry = "enceladus_" + function.name();
  artifact.parameters = describe_parameters(function);
  const analysis::Cost cost = analysis::estimate_cost(function);
  artifact.bytes_per_program = cost.bytes;
  artifact.operations_per_program = cost.operations;
  artifact.num_warps = function.options().num_warps;
  const loop::Plan plan = loop::make_plan(
      function,
      [&](const ir::Operation* dot, loop::Buffer& buffer) { set_dot_layout(host, dot, buffer); });
  artifact.scratch_bytes = plan.scratch_bytes + product_scratch_bytes(function, host);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  if (options.llvm_override.empty()) {
    module = std::make_unique<llvm::Module>(function.name(), context);
    emit_kernel(*module, host, function, plan, artifact.entry, artifact.walk);
  } else {
    module = parse_module(options.llvm_override, context);
  }
  if (options.verify) verify_module(*module);
  const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(host);
  module->setTargetTriple(host.triple);
  module->setDataLayout(machine->createDataLayout());
  optimize_module(*module, *machine);
  artifact.stages.emplace_back("llir", print_module(*module));
  artifact.binary = emit_object(*module, *machine);
  return artifact;
}

}  // namespace enceladus::cpu
