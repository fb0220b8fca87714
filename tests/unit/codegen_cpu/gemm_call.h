// One tile product as a function to call from a test: the run-time figures as a struct, and the
// emitter of the function that reads them and calls emit_gemm.
#pragma once

#include <cstdint>

#include "codegen/cpu/gemm.h"
#include "jit_function.h"

namespace enceladus::cpu {

struct GemmCall {  // GemmArguments in order, read by the emitted function
  const void* a;
  int64_t a_row_stride, a_depth_stride;
  const void* b;
  int64_t b_depth_stride, b_column_stride;
  int64_t rows, columns, depth, a_depth, b_depth;
  void* c;
  void* scratch;
  int64_t generation;
};

EmitBody gemm_body(const HostTarget& target, const GemmSpec& spec);

}  // namespace enceladus::cpu
