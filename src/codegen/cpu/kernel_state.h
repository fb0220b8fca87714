// What is known of a kernel while it is written out: its values so far, its scratch memory, its
// launch arguments. Shared by the emitters of scalars, control flow, groups and products.
#pragma once

#include <vector>

#include "analysis/effects.h"
#include "codegen/cpu/dot_loop_places.h"
#include "codegen/cpu/emission.h"
#include "codegen/cpu/tallies.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::cpu {

struct KernelState {
  const ir::Function& function;
  const loop::Plan& plan;
  const analysis::MemoryEffects& effects;
  Emission emission;
  const DotLoopPlaces& dot_loops;
  const Tallies& tallies;
  std::vector<llvm::Value*> scalars;     // by Value::id(): scalar values, in registers
  llvm::Value* launch = nullptr;         // the CpuLaunch
  llvm::Value* header = nullptr;         // the worker's scratch: 64 bytes that the runtime owns
  llvm::Value* scratch = nullptr;        // the kernel's own scratch behind them
  llvm::Value* dot_scratch = nullptr;    // behind them: what products need for themselves
  llvm::Value* tally_scratch = nullptr;  // behind that: the tallies
  std::vector<llvm::Value*> tally_extents = {};  // i64: bytes of each that this launch uses
  std::vector<llvm::Value*> open_extents = {};  // i64: that or, in a program that does not count, 0
  llvm::Value* program[3] = {};                 // i32; null on axes that the kernel does not read
  llvm::Value* grid[3] = {};                    // i32
  llvm::Value* spare = nullptr;                 // 64 bytes that masked-off lanes may read and write
  llvm::Value* is_streaming = nullptr;          // i1: non-temporal stores pay off in this launch
  llvm::Value* abandoned_at = nullptr;          // CpuLaunch::abandoned
  llvm::Value* ticket = nullptr;                // CpuLaunch::ticket
  llvm::BasicBlock* abandoned = nullptr;        // where an abandoned launch returns
  llvm::Instruction* allocas = nullptr;         // where the entry block takes allocas

  llvm::IRBuilder<>& builder() { return emission.builder; }
  llvm::LLVMContext& context() { return emission.builder.getContext(); }
  llvm::Value* scalar(const ir::Value* value) const;
  llvm::Value* buffer_address(int buffer);
  // Memory of the entry's frame, outside every loop.
  llvm::AllocaInst* allocate(llvm::Type* type);
  llvm::BasicBlock* new_block(const char* name);
  // Leaves the kernel here if the launch has been abandoned.
  void emit_abandonment_test();
};

}  // namespace enceladus::cpu
