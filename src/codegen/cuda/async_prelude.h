// Helper functions of asynchronous products and copies whose text depends on shapes, types and
// ranks. Not: those that do not (snippets.h), nor who calls them (async_emitter.cpp).
#pragma once

#include <cstdint>
#include <string>

#include "support/dtype.h"

namespace enceladus::cuda {

inline std::string number(int64_t value) { return std::to_string(value); }

// The letter by which an assembler's line takes a register of the type.
inline char constraint(DType dtype) {
  return dtype == DType::kFloat64 ? 'd' : dtype == DType::kFloat32 ? 'f' : 'r';
}

struct AsyncText {
  std::string name;
  std::string text;
};

// One instruction of 64 rows: d += a b, or d = a b where `add` is 0.
struct WgmmaForm {
  int64_t columns = 0;
  std::string input;   // `f16`, or `e4m3.e5m2` where the operands' types differ
  int64_t depth = 16;  // of the instruction
  DType sum = DType::kFloat32;
  bool a_in_registers = false;
  bool a_transposed = false, b_transposed = false;
};
AsyncText wgmma_text(const WgmmaForm& form);

// Holds the registers back until the wait before it.
AsyncText keep_text(DType sum, int64_t registers);

AsyncText copy_in_text(int axes);
AsyncText copy_out_text(int axes);

}  // namespace enceladus::cuda
