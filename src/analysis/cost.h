// What one program of a kernel costs: bytes it asks of memory and simple operations it computes.
// Estimates for the roofline of `explain` and for planning a first launch, never for correctness.
#pragma once

#include <cstdint>

#include "ir/ir.h"

namespace enceladus::analysis {

struct Cost {
  double bytes = 0;
  double operations = 0;  // a multiply-add counts as two, a math function as `kMathOperations`
  bool has_unknown_loops = false;  // loops whose trip count was assumed
};

inline constexpr double kMathOperations = 10;
inline constexpr double kAssumedTurns = 16;  // of a loop whose bounds are run-time values

// Exponentials, logarithms and the like: tens of instructions an element.
bool is_math_function(ir::Opcode opcode);

// How long a processor is busy with an elementwise operation; each target has its own numbers.
enum class Effort : uint8_t {
  kPlain,
  kRoot,             // a root or a quotient of floats: one slow instruction
  kIntegerDivision,  // without an instruction on most
  kFunction,
};
Effort effort_of(const ir::Operation& op);

// Bytes that one load, store or atomic moves when no element is masked off.
double access_bytes(const ir::Operation& access);

// Masks are taken to be all true; both sides of a run-time `if` count half.
Cost estimate_cost(const ir::Function& function);

}  // namespace enceladus::analysis
