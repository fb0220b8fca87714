// The text form of the tile IR, for `.ir`, dumps, error reports and text tests. Deterministic:
// equal functions print equally. ir/parser.h reads it back (source lines, being comments, are
// skipped).
//
//   kernel @add(%x: ptr<f32> {aligned_16}, %n: i32) {num_warps = 4, math_mode = relaxed} {
//     %pid = program_id {axis = 0} : i32
//     %0 = constant 1024 : i32
//     %1 = mul %pid, %0 : i32
//     %acc = for %i = %c0 to %n step %c1 carry (%acc.1 = %zero) : (f32) {
//       yield %next
//     }
//   }
//
// A value prints as the user's name for it (`.1`, `.2`, ... where several share it) or as a number.
// Types: the results' where ops.def says they are given, and those of the operands that do not
// follow from the first operand's.
#pragma once

#include <string>

#include "ir/ir.h"

namespace enceladus::ir {

struct PrintOptions {
  bool source_lines = false;  // `// 12:5` (line:column) behind each operation
};

std::string print(const Function& function, const PrintOptions& options = {});

// One operation without its regions, for messages; values are named as in nothing else.
std::string print(const Operation& op);

// An element's bits as the text of a constant: `7`, `true`, `1.5`, `-inf`, `0x7fc00000` for a NaN.
std::string constant_text(DType dtype, uint64_t bits);

}  // namespace enceladus::ir
