// The whole text of a kernel: helpers, the signature and the body.
//
// `extern "C" __global__ void NAME(T* ..., scalars ...)`: the run-time parameters in order, plain;
// then the tensor maps, then the grid's extents where each program that runs walks many of it.
// Shared memory is the launch's dynamic one.
#pragma once

#include <string>

#include "ir/ir.h"

namespace enceladus::cuda {

struct KernelText {
  std::string entry;  // the kernel's name, clear of the language's words
  std::string text;
};

// Of a block: the warps, and those of the producer where there is one.
int kernel_threads(const ir::Function& function);

// The function is SIMT IR with placed buffers and barriers; `shared_bytes` is what the buffers
// take.
KernelText kernel_text(const ir::Function& function, int64_t shared_bytes);

}  // namespace enceladus::cuda
