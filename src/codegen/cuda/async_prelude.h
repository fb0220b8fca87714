// Helper functions of asynchronous products and copies whose text depends on shapes, types and
// ranks. Not: those that do not (snippets.h), nor who calls them (async_emitter.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

// The assembler's registers `%NAME_0` and on that hold a sum, of 32 bits each (wgmma_emitter.cpp).
constexpr std::string_view assembler_type(DType sum) {
  return sum == DType::kFloat32 ? "f32" : "s32";
}

constexpr int64_t kRegistersOfA = 8;  // 16-bit elements of a thread, an instruction

// One instruction of 64 rows: its sums += a b, or = a b where `add` is 0.
struct WgmmaForm {
  int64_t columns = 0;
  std::string input;   // `f16`, or `e4m3.e5m2` where the operands' types differ
  int64_t depth = 16;  // of the instruction
  DType sum = DType::kFloat32;
  std::string sums;   // of the assembler's registers
  int64_t first = 0;  // its first one
  bool a_in_registers = false;
  bool a_transposed = false, b_transposed = false;
};
AsyncText wgmma_text(const WgmmaForm& form);

// From an array to a sum's registers, and back.
AsyncText move_in_text(const std::string& sums, DType sum, int64_t registers);
AsyncText move_out_text(const std::string& sums, DType sum, int64_t registers);
AsyncText clear_text(const std::string& sums, int64_t registers);

AsyncText copy_in_text(int axes);
AsyncText copy_out_text(int axes);

}  // namespace enceladus::cuda
