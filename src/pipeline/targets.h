// What each target makes of an optimized function: entry, binary, its own stages, scratch, walk.
// What is the same everywhere (parameters, cost, the "ir" stage) is filled in by compile(); a
// target may change the function.
#pragma once

#include "pipeline/compile.h"

namespace enceladus::pipeline {

Artifact compile_cpu(const ir::Function& function, const CompileOptions& options,
                     Stopwatch& stopwatch);
Artifact compile_metal(const ir::Function& function, const CompileOptions& options,
                       Stopwatch& stopwatch);
Artifact compile_cuda(ir::Function& function, const CompileOptions& options, Stopwatch& stopwatch);

// Fails as our own mistake where the verifier objects to what `after` left.
void check_well_formed(const ir::Function& function, std::string_view after);

}  // namespace enceladus::pipeline
