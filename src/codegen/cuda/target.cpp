#include "codegen/cuda/target.h"

#include <array>

#include "lowering/tile_to_simt/layouts.h"

namespace enceladus::cuda {
namespace {

using simt::Fragment;
using simt::FragmentBit;
using simt::MatrixInstruction;

// Of sm_90; devices with less say so at launch.
constexpr int64_t kSharedBytes = 232448;

constexpr FragmentBit row(int bit) { return {true, bit}; }
constexpr FragmentBit column(int bit) { return {false, bit}; }

// 16 rows by columns in pairs: lanes 4 g + t hold rows g and g + 8.
Fragment accumulator_fragment() {
  return {.registers = {column(0), row(3)},
          .lanes = {column(1), column(2), row(0), row(1), row(2)}};
}

// Operands whose words hold 2^packed elements along the depth: a word has depth
// 2^packed * t + ..., the next words are 8 rows below (a) and 4 words of depth ahead.
MatrixInstruction instruction(std::string_view name, int k_bits, int packed) {
  MatrixInstruction result{.name = name,
                           .m_bits = 4,
                           .n_bits = 3,
                           .k_bits = k_bits,
                           .a = {},
                           .b = {},
                           .accumulator = accumulator_fragment()};
  for (int bit = 0; bit < packed; ++bit) {
    result.a.registers.push_back(column(bit));
    result.b.registers.push_back(row(bit));
  }
  result.a.registers.push_back(row(3));
  for (int bit = packed + 2; bit < k_bits; ++bit) {
    result.a.registers.push_back(column(bit));
    result.b.registers.push_back(row(bit));
  }
  result.a.lanes = {column(packed), column(packed + 1), row(0), row(1), row(2)};
  result.b.lanes = {row(packed), row(packed + 1), column(0), column(1), column(2)};
  return result;
}

MatrixInstruction double_instruction() {
  return {.name = "m8n8k4",
          .m_bits = 3,
          .n_bits = 3,
          .k_bits = 2,
          .a = {.registers = {}, .lanes = {column(0), column(1), row(0), row(1), row(2)}},
          .b = {.registers = {}, .lanes = {row(0), row(1), column(0), column(1), column(2)}},
          .accumulator = {.registers = {column(0)},
                          .lanes = {column(1), column(2), row(0), row(1), row(2)}}};
}

const std::array<MatrixInstruction, 4>& instructions() {
  static const std::array<MatrixInstruction, 4> all = {
      instruction("m16n8k8", 3, 0),   // tf32
      instruction("m16n8k16", 4, 1),  // float16, bfloat16
      instruction("m16n8k32", 5, 2),  // int8, uint8, float8
      double_instruction()};
  return all;
}

// The type that an instruction multiplies two operands' elements in; none where there is none.
std::optional<DType> operand_type(const ir::Operation& dot) {
  DType a = dot.operand(0)->type().dtype(), b = dot.operand(1)->type().dtype();
  if (a != b) return std::nullopt;
  if (a != DType::kFloat32) return a;
  bool lowered = dot.has(ir::AttributeName::kInputPrecision) &&
                 dot.enumerator<ir::InputPrecision>(ir::AttributeName::kInputPrecision) ==
                     ir::InputPrecision::kTf32;
  if (lowered) return a;
  return std::nullopt;
}

// Products too shallow for the instruction of 8-bit floats are those of float16, which holds each.
std::optional<simt::MatrixUse> float8_use(const ir::Operation& dot, int depth_bits) {
  const MatrixInstruction* bytes = matrix_instruction("m16n8k32");
  const MatrixInstruction* halves = matrix_instruction("m16n8k16");
  if (depth_bits >= bytes->k_bits)
    return simt::MatrixUse{bytes, dot.operand(0)->type().dtype(), dot.operand(1)->type().dtype(),
                           DType::kFloat32};
  if (depth_bits >= halves->k_bits)
    return simt::MatrixUse{halves, DType::kFloat16, DType::kFloat16, DType::kFloat32};
  return std::nullopt;
}

std::optional<simt::MatrixUse> matrix_use(const ir::Operation& dot) {
  DType accumulator = dot.operand(2)->type().dtype();
  const ir::Type& a = dot.operand(0)->type();
  int depth_bits = simt::log2_of(a.extent(a.rank() - 1));
  auto use = [&](std::string_view name, DType sum) -> std::optional<simt::MatrixUse> {
    const MatrixInstruction* found = matrix_instruction(name);
    // Copies along the depth would be added several times.
    if (depth_bits < found->k_bits) return std::nullopt;
    return simt::MatrixUse{found, a.dtype(), dot.operand(1)->type().dtype(), sum};
  };
  auto is_byte = [](DType dtype) { return dtype == DType::kInt8 || dtype == DType::kUInt8; };
  if (is_byte(a.dtype()) && is_byte(dot.operand(1)->type().dtype()))
    return accumulator == DType::kInt32 ? use("m16n8k32", DType::kInt32) : std::nullopt;
  if (is_float8(a.dtype()) && is_float(accumulator) && accumulator != DType::kFloat64)
    return float8_use(dot, depth_bits);
  std::optional<DType> type = operand_type(dot);
  if (!type || !is_float(accumulator)) return std::nullopt;
  switch (*type) {
    case DType::kFloat16:
    case DType::kBFloat16:
      if (accumulator == DType::kFloat64) return std::nullopt;
      return use("m16n8k16", DType::kFloat32);
    case DType::kFloat32:
      return use("m16n8k8", DType::kFloat32);
    case DType::kFloat64:
      if (accumulator != DType::kFloat64) return std::nullopt;
      return use("m8n8k4", DType::kFloat64);
    default:
      return std::nullopt;
  }
}

bool has_warp_reduction(ir::CombineKind kind, DType dtype) {
  bool is_word = dtype == DType::kInt32 || dtype == DType::kUInt32;
  return is_word && (kind == ir::CombineKind::kAdd || kind == ir::CombineKind::kMax ||
                     kind == ir::CombineKind::kMin);
}

}  // namespace

const MatrixInstruction* matrix_instruction(std::string_view name) {
  for (const MatrixInstruction& candidate : instructions())
    if (candidate.name == name) return &candidate;
  return nullptr;
}

const simt::SimtTarget& simt_target() {
  static const simt::SimtTarget target{.name = "CUDA",
                                       .shared_bytes = kSharedBytes,
                                       .has_warp_reduction = has_warp_reduction,
                                       .matrix_use = matrix_use,
                                       .has_wgmma = true,
                                       .has_matrix_loads = true,
                                       .has_symmetric_extrema = true,
                                       .multiplies_blocks = true,
                                       .coalescing = simt::Together::kEach,
                                       .has_tallies = true,
                                       .counts_in_vain = true};
  return target;
}

}  // namespace enceladus::cuda
