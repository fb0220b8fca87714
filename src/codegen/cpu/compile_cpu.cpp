#include "codegen/cpu/compile_cpu.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <mutex>
#include <vector>

#include "codegen/cpu/dot_emitter.h"
#include "codegen/cpu/explain.h"
#include "codegen/cpu/kernel_emitter.h"
#include "codegen/cpu/object_code.h"
#include "codegen/cpu/tallies.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::cpu {
namespace {

// A code generator of the host, lent. It takes milliseconds to make and serves one thread at a
// time, while threads come and go (support/deep_stack.h).
class LentGenerator {
 public:
  LentGenerator() : generator_(take()) {
    if (generator_ == nullptr) generator_ = std::make_unique<CodeGenerator>(host_target());
  }
  ~LentGenerator() {
    const std::lock_guard lock(guard());
    at_rest().push_back(std::move(generator_));
  }
  CodeGenerator* operator->() const { return generator_.get(); }

 private:
  static std::unique_ptr<CodeGenerator> take() {
    const std::lock_guard lock(guard());
    if (at_rest().empty()) return nullptr;
    std::unique_ptr<CodeGenerator> found = std::move(at_rest().back());
    at_rest().pop_back();
    return found;
  }
  static std::mutex& guard() {
    static std::mutex mutex;
    return mutex;
  }
  // Never destroyed: a thread may still compile while the process ends.
  static std::vector<std::unique_ptr<CodeGenerator>>& at_rest() {
    static auto* generators = new std::vector<std::unique_ptr<CodeGenerator>>();
    return *generators;
  }

  std::unique_ptr<CodeGenerator> generator_;
};

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
  const Tallies tallies(function);
  artifact.scratch_bytes = plan.scratch_bytes + dot_loops.scratch_bytes + tallies.scratch_bytes();
  const ProgramOrder order = choose_order(plan);
  artifact.walk = order.walk;
  artifact.walk_shares_columns = order.shares_columns;
  stopwatch.lap("loop plan");
  artifact.explain = explain_kernel(function, plan, dot_loops, host);
  stopwatch.lap("explain");

  llvm::LLVMContext context;
  const LentGenerator generator;
  auto module = std::make_unique<llvm::Module>(function.name(), context);
  const bool is_ours = options.llvm_override.empty();
  if (is_ours)
    emit_kernel(*module, host,
                {.function = function,
                 .loops = plan,
                 .dot_loops = dot_loops,
                 .tallies = tallies,
                 .entry = artifact.entry,
                 .walk = artifact.walk});
  else
    module = parse_module(options.llvm_override, context);
  if (options.verify) verify_module(*module);
  generator->prepare(*module);
  stopwatch.lap("LLVM IR");

  if (is_ours) generator->optimize(*module);
  stopwatch.lap("optimize");
  artifact.stages.emplace_back("llir", print_module(*module));
  stopwatch.lap("print");
  artifact.binary = generator->emit_object(*module);
  stopwatch.lap("object");
  return artifact;
}

}  // namespace enceladus::cpu
