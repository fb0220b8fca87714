// The whole text of a kernel: helpers, the signature and the body.
//
// `extern "C" __global__ void NAME(T* ..., scalars ...)`: the run-time parameters in order, plain;
// then the tensor maps, then the grid's extents where each program that runs walks many of it,
// then, where there are assertions, `uint* messages`: 0 or the number of the one that failed first,
// and its program. Shared memory is the launch's dynamic one.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace enceladus::cuda {

struct KernelText {
  std::string entry;  // the kernel's name, clear of the language's words
  std::string text;
  std::vector<std::string> messages;  // of the assertions, by number from 1
};

// Of a block: the warps, and those of the producer where there is one.
int kernel_threads(const ir::Function& function);

// The function is SIMT IR with placed buffers and barriers; `shared_bytes` is what the buffers
// take.
KernelText kernel_text(const ir::Function& function, int64_t shared_bytes);

}  // namespace enceladus::cuda
