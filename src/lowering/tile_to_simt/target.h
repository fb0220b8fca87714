// What lowering asks about the GPUs that a target stands for: matrix instructions, reductions of a
// warp, limits. Each target describes itself in its folder of codegen. Not: words of a language.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/ir.h"

namespace enceladus::simt {

enum class Together : uint8_t { kAll, kEach };

// One bit of an element's place in a fragment: of its row or of its column.
struct FragmentBit {
  bool is_row;
  int bit;
};

// Which element of a small matrix each register of each lane holds: the bit that each bit of the
// register's and of the lane's number selects, the lowest first.
struct Fragment {
  std::vector<FragmentBit> registers, lanes;
};

// An instruction by which a warp multiplies: accumulator (m x n) += a (m x k) times b (k x n).
struct MatrixInstruction {
  std::string_view name;  // `m16n8k16`
  int m_bits, n_bits, k_bits;
  Fragment a, b, accumulator;
};

// How a dot is computed by an instruction: what its operands are converted to first.
struct MatrixUse {
  const MatrixInstruction* instruction;
  DType a, b, accumulator;
};

struct SimtTarget {
  std::string_view name;  // `Metal`
  int64_t shared_bytes;   // of a program, at most
  // Whether one instruction combines 32 lanes.
  bool (*has_warp_reduction)(ir::CombineKind kind, DType dtype);
  // None where the dot is multiplied element by element.
  std::optional<MatrixUse> (*matrix_use)(const ir::Operation& dot);
  // Hopper's copy engine and asynchronous products (hopper_plan.h).
  bool has_wgmma = false;
  // Whether a warp loads matrices of 8 rows of 16 bytes from shared memory (`matrix_load`).
  bool has_matrix_loads = false;
  // Whether max(0.0, -0.0) and such are the same whichever side is which.
  bool has_symmetric_extrema = false;
  // Whether dots without an instruction are multiplied by blocks of registers (dot_blocks.cpp).
  bool multiplies_blocks = false;
  // Whether neighbouring accesses of a warp are merged, or each pays for the sectors it touches.
  Together coalescing = Together::kAll;
  // Whether operands that one dot alone loads are best read as fragments, past shared memory.
  bool direct_fragments = false;
  // Whether integer sums by atomics are best counted in shared memory first (tallies.h).
  bool has_tallies = false;
  // Whether an atomic in shared memory that serves nothing costs less than a branch around it.
  bool counts_in_vain = false;
  std::string_view matrix_name = "mma";  // as `dot_backend` names the instructions
  // Whether a library multiplies whole loops (Metal 4's `matmul2d`), and whether it is the faster
  // way where the launch leaves the choice.
  bool has_matmul2d = false;
  bool prefers_matmul2d = false;
};

}  // namespace enceladus::simt
