// Makes an object file callable in this process: memory for its sections, relocations, and the
// functions that generated code may call (libm, libc and SLEEF). Nothing is compiled here, which is
// what lets a kernel from the disk cache start in a millisecond.
#pragma once

#include <memory>
#include <string>

#include "support/cpu_abi.h"

namespace enceladus::cpu {

struct CodeImage {
  CpuEntry entry = nullptr;
  std::shared_ptr<const void> owner;  // keeps the code mapped
};

// May be called from any thread. Throws std::runtime_error where the object is no object file of
// this machine, has no symbol `entry`, or calls a function that is nowhere.
CodeImage load_object(const std::string& object, const std::string& entry);

}  // namespace enceladus::cpu
