// How a machine multiplies operands of given types: which instruction, what the elements are turned
// into on the way to it, how many of them share a lane, and how many rows and vectors of results
// stay in registers. Figures only; gemm_micro.h emits the instructions. The block shapes are those
// that we measured (AVX-512, AVX2) or guessed (the rest, said so where they stand).
#pragma once

#include <string>

#include "codegen/cpu/host_target.h"
#include "support/dtype.h"

namespace enceladus::cpu {

enum class Product {
  kFloat,          // float32 or float64: fused multiply-add where the host has it
  kInteger,        // int32 lanes, low 32 bits of each product
  kInt16Pairs,     // pmaddwd, vpdpwssd: two int16 products a lane, exact modulo 2^32
  kBFloat16Pairs,  // vdpbf16ps: treats subnormals as zero, by definition of the instruction
  kInt8Quads,      // vpdpbusd: four products of an unsigned and a signed byte a lane
  kBFloat16Amx,    // tdpbf16ps: the same pairs, and zeros for subnormals, on AMX tiles
  kInt8Amx,        // tdpbssd, tdpbsud, tdpbusd, tdpbuud: four products of bytes of any signs
};

// Whether a product is worth setting up the AMX tiles, which takes a few hundred cycles.
enum class ProductSize { kSmall, kLarge };

// An AMX tile: as many rows, each of 64 bytes, which are 16 lanes.
inline constexpr int kAmxRows = 16;
inline constexpr int kAmxLanes = 16;

// What the sign fix of kInt8Quads does: the instruction wants one operand unsigned and the other
// signed. B is packed anyway, so B is shifted by 128 there (its top bit is flipped) and
// 128 * rowsum(A) makes up for it.
enum class SignFix { kNone, kSubtractRowSums, kAddRowSums };

struct GemmFormat {
  Product product;
  DType a_source, b_source;  // in memory
  DType a_operand;           // as the instruction wants them; B's differs at most in sign
  DType accumulator;         // float32, float64 or int32
  int group = 1;             // consecutive elements of K in a lane
  int lanes = 0;             // accumulators of a vector
  int unroll = 4;            // groups of K a turn, a power of two
  SignFix sign_fix = SignFix::kNone;
  bool a_is_unsigned = false;  // kInt8Quads only: which operand goes first
  bool is_fused = false;       // kFloat only: one rounding a step

  int lane_bytes() const { return byte_size(accumulator); }
  bool uses_amx() const { return product == Product::kBFloat16Amx || product == Product::kInt8Amx; }
  // Elements of K that are multiplied together or not at all; what is missing counts as zero.
  int depth_unit() const { return uses_amx() ? kAmxRows * group : group; }
  // Whether A can be read where it lies.
  bool reads_a_in_place() const { return a_source == a_operand; }
  // A name for the functions emitted for it: "f32", "i8xu8_quads".
  std::string name() const;
};

// Throws InternalError for types that have no product (the frontend refuses those).
GemmFormat choose_format(const HostTarget& host, DType a, DType b, DType accumulator,
                         ProductSize size);
// What multiplies, for readers: "tdpbf16ps on AMX tiles", "float32 multiply-adds".
std::string instruction_of(const GemmFormat& format);

struct RegisterBlock {
  int rows;        // the higher of the two heights
  int lower_rows;  // the other one, equal to `rows` where one serves
  int vectors;
  bool operator==(const RegisterBlock&) const = default;
};

// The block for tiles of rows x columns. The tile's rows are split evenly: every block of rows has
// one of the two heights.
RegisterBlock choose_block(const HostTarget& host, const GemmFormat& format, int rows, int columns);

}  // namespace enceladus::cpu
