// What `kernel.explain` shows of a GPU kernel beyond its cost: dots with backend and operand paths,
// tiles with layout and registers, conversions, accesses, shared memory, barriers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/facts.h"
#include "ir/ir.h"
#include "lowering/tile_to_simt/report.h"

namespace enceladus::simt {

// A JSON object that enceladus/explain.py renders. `simt` is what became of `tile`, with shared
// buffers placed and barriers inserted; `values` are the target's own, shown first.
std::string explain_kernel(const ir::Function& tile, const ir::Function& simt,
                           const LoweringReport& report,
                           const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace enceladus::simt
