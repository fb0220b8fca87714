// Counted loops in LLVM IR, emitted in the rotated form that LLVM's own passes would bring them to
// (a guard, then a body that tests at its end), with unrolling and vectorization switched off: the
// emitters of this folder unroll and vectorize themselves. Not for loops whose trip count is found
// while they run.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

namespace enceladus::cpu {

using Values = llvm::SmallVector<llvm::Value*, 16>;

struct LoopBounds {  // i64, signed; step > 0
  llvm::Value* begin;
  llvm::Value* end;
  int64_t step = 1;
  bool is_entered = false;  // begin < end is known: no guard
};

// `for (index = begin; index < end; index += step) body(index)`. The builder stands behind the loop
// afterwards.
void emit_loop(llvm::IRBuilderBase& builder, const LoopBounds& bounds,
               llvm::function_ref<void(llvm::Value* index)> body);

// The same with values carried from one turn to the next: `body` takes those of this turn and gives
// those of the next. Returns the last ones (`initial` where no turn is made).
Values emit_carrying_loop(
    llvm::IRBuilderBase& builder, const LoopBounds& bounds, llvm::ArrayRef<llvm::Value*> initial,
    llvm::function_ref<Values(llvm::Value* index, llvm::ArrayRef<llvm::Value*> carried)> body);

// `if (condition) body()`.
void emit_if(llvm::IRBuilderBase& builder, llvm::Value* condition, llvm::function_ref<void()> body);

// `condition ? yes() : no()`, both giving one value of one type, or both null.
llvm::Value* emit_if_else(llvm::IRBuilderBase& builder, llvm::Value* condition,
                          llvm::function_ref<llvm::Value*()> yes,
                          llvm::function_ref<llvm::Value*()> no);

}  // namespace enceladus::cpu
