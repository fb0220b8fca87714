// Rewrites the LLVM IR text that clang made of an MSL kernel so that it can run in the simulator:
//
// - `threadgroup` variables. OpenCL makes them internal globals without a value, and since kernels
//   do not recurse, the optimizer would turn them into one private variable per thread. They become
//   visible globals with zeros, with a red zone on both sides:
//     @_ZZ1kE1s = internal global [64 x float] undef, align 16
//   becomes
//     @_ZZ1kE1s.block = hidden global { [64 x i8], [64 x float], [64 x i8] } zeroinitializer, ...
//     @_ZZ1kE1s = hidden alias [64 x float], getelementptr (..., ptr @_ZZ1kE1s.block, i32 0, i32 1)
//   and a table gives their addresses, sizes and names.
// - Functions of the runtime, of libm and of libc: a jump through a table that the loader fills in,
//   since the object is loaded where it can see no symbol of ours.
//
// Runs between two calls of clang. Works on lines; understands globals of that one form only.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace enceladus::simulator {

std::string rewrite_ir(std::string_view ir, std::span<const std::string_view> runtime_functions);

}  // namespace enceladus::simulator
