// The whole text of a kernel: includes, helpers, the scalars' structure, the signature and the
// body.
//
// Arguments: pointers in parameter order at buffer(0), buffer(1), ...; all scalars in parameter
// order, aligned as in C, in one constant structure behind them; where there are assertions the
// buffer of the first failure; the program's place in the grid, the lane and the warp as
// attributes.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace enceladus::metal {

struct KernelText {
  std::string entry;  // the kernel's name, clear of the language's words
  std::string text;
  int language_version = 31;          // the lowest that has all that the text uses
  bool logs = false;                  // it writes lines
  std::vector<std::string> messages;  // of its assertions, by number
};

// The function is SIMT IR with placed buffers and barriers; `shared_bytes` is what the buffers
// take.
KernelText kernel_text(const ir::Function& function, int64_t shared_bytes);

}  // namespace enceladus::metal
