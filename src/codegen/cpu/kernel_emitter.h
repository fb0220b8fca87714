// The entry function of a kernel (support/cpu_abi.h): fetches the launch's arguments and runs the
// body for each program of its range.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/cpu/dot_loop_places.h"
#include "codegen/cpu/host_target.h"
#include "codegen/cpu/tallies.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::cpu {

struct KernelPlan {
  const ir::Function& function;
  const loop::Plan& loops;
  const DotLoopPlaces& dot_loops;
  const Tallies& tallies;
  std::string entry;            // the function's name
  std::array<int32_t, 3> walk;  // the grid axes, the fastest first
};

void emit_kernel(llvm::Module& module, const HostTarget& host, const KernelPlan& plan);

}  // namespace enceladus::cpu
