// Tile IR to machine code of this host, through LLVM.
#include "pipeline/targets.h"
#include "support/diagnostics.h"

#ifdef ENCELADUS_HAS_CPU

#include "codegen/cpu/compile_cpu.h"

namespace enceladus::pipeline {

Artifact compile_cpu(const ir::Function& function, const CompileOptions& options,
                     Stopwatch& stopwatch) {
  cpu::CpuOptions cpu_options{.verify = options.verification == Verification::kAfterEveryPass,
                              .llvm_override = options.override_text};
  return cpu::compile_cpu(function, cpu_options, stopwatch);
}

}  // namespace enceladus::pipeline

#else

namespace enceladus::pipeline {

Artifact compile_cpu(const ir::Function& function, const CompileOptions&, Stopwatch&) {
  fail(DiagnosticId::kNotAvailableOnTarget, function.location(),
       {function.name(), "cpu", "build with -DENCELADUS_CPU=ON"});
}

}  // namespace enceladus::pipeline

#endif
