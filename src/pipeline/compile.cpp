#include "pipeline/compile.h"

#include <stdexcept>

#include "ir/printer.h"
#include "ir/verifier.h"
#include "support/check.h"
#include "transforms/tile_passes.h"
#ifdef ENCELADUS_HAS_CPU
#include "codegen/cpu/compile_cpu.h"
#endif

namespace enceladus {
namespace {

void verify_after(const ir::Function& function, std::string_view pass) {
  const std::vector<std::string> problems = ir::verify(function);
  if (problems.empty()) return;
  ENC_CHECK(false,
            "after " + std::string(pass) + ": " + problems.front() + "\n" + ir::print(function));
}

Artifact compile_for_cpu(const ir::Function& function, const CompileOptions& options) {
#ifdef ENCELADUS_HAS_CPU
  return cpu::compile_cpu(function,
                          {.verify = options.verify, .llvm_override = options.llir_override});
#else
  throw std::runtime_error("this build of Enceladus has no CPU target");
#endif
}

}  // namespace

Artifact compile(std::unique_ptr<ir::Function> function, const CompileOptions& options) {
  if (options.target != "cpu")
    throw std::runtime_error("this build of Enceladus does not compile for " + options.target);
  if (options.verify) verify_after(*function, "the frontend");
  transforms::optimize(*function, [&](std::string_view pass) {
    if (options.verify) verify_after(*function, pass);
  });
  Artifact artifact = compile_for_cpu(*function, options);
  artifact.stages.insert(artifact.stages.begin(), {"ir", ir::print(*function)});
  return artifact;
}

}  // namespace enceladus
