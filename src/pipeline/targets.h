// What each target makes of an optimized function: entry, binary, its own stages, scratch, walk.
// What is the same everywhere (parameters, cost, the "ir" stage) is filled in by compile().
#pragma once

#include "pipeline/compile.h"

namespace enceladus::pipeline {

Artifact compile_cpu(const ir::Function& function, const CompileOptions& options,
                     Stopwatch& stopwatch);

}  // namespace enceladus::pipeline
