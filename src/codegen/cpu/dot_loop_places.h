// Figures of the loops over K that run as one product: which product each becomes, where in scratch
// it works, whether it keeps its packed B between programs, and the order of programs that makes
// keeping it worth while. No LLVM here.
#pragma once

#include <array>
#include <vector>

#include "codegen/cpu/gemm.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::cpu {

struct DotLoopPlaces {
  std::vector<GemmSpec> specs;   // by index into Plan::dot_loops
  std::vector<int64_t> offsets;  // of the product's own scratch, behind Plan::scratch_bytes
  int64_t scratch_bytes = 0;     // of all products, those on tiles in scratch included
};

DotLoopPlaces place_dot_loops(const HostTarget& host, const ir::Function& function,
                              const loop::Plan& plan);

struct ProgramOrder {
  std::array<int32_t, 3> walk = {0, 1, 2};  // grid axes, the fastest first
  bool shares_columns = false;              // programs along walk[0] use the same B
};

// Walks axes first that leave B as it is.
ProgramOrder choose_order(const loop::Plan& plan);

}  // namespace enceladus::cpu
