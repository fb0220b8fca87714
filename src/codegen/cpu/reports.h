// What a running kernel says: tl.device_print and tl.device_assert, through functions of this
// library that format a line and hand it to the launch's host (host_functions.h).
#pragma once

#include "codegen/cpu/kernel_state.h"

namespace enceladus::cpu {

// Prints one of the operation's values (`part`), a line an element. `position` is the element's
// index, an i32 (vector) an axis; empty for a scalar. `value` is null where there are no values.
void emit_print(KernelState& kernel, const ir::Operation* op, int part, llvm::Value* value,
                llvm::ArrayRef<llvm::Value*> position);

// `operands`: the condition and the mask (or null), scalars or vectors.
void emit_assertion(KernelState& kernel, const ir::Operation* op,
                    llvm::ArrayRef<llvm::Value*> operands);

// An element offset (i64, or a vector of them) on its way to a pointer. In debug mode one that is
// far outside every array is cut to a distance at which its address in bytes cannot wrap around to
// lie inside again; elsewhere it stays as it is.
llvm::Value* checkable_offset(KernelState& kernel, llvm::Value* offset);

// In debug mode, where the pointers of a memory operation (scalar or vector) come from one array
// parameter: reports the elements that lie outside that array, and returns the mask (null: true)
// without them. Elsewhere returns the mask as it is. `position`: as for emit_print.
llvm::Value* emit_bounds_check(KernelState& kernel, const ir::Operation* access,
                               llvm::Value* pointers, llvm::Value* mask,
                               llvm::ArrayRef<llvm::Value*> position);

}  // namespace enceladus::cpu
