#include "codegen/metal/target.h"

namespace enceladus::metal {
namespace {

constexpr int64_t kSharedBytes = 32768;

// An 8x8 fragment: two neighbouring elements of a row a lane; with q = lane / 4, row = (q & 4) +
// (lane / 2) % 4, column = (q & 2) * 2 + (lane % 2) * 2. The hardware's vendor does not document
// it; `doctor` checks it on a device.
const simt::MatrixInstruction& simdgroup_matrix() {
  static const simt::Fragment fragment{
      .registers = {{false, 0}},
      .lanes = {{false, 1}, {true, 0}, {true, 1}, {false, 2}, {true, 2}}};
  static const simt::MatrixInstruction instruction{.name = "m8n8k8",
                                                   .m_bits = 3,
                                                   .n_bits = 3,
                                                   .k_bits = 3,
                                                   .a = fragment,
                                                   .b = fragment,
                                                   .accumulator = fragment};
  return instruction;
}

// Sums are kept in float32 whatever the accumulator's type. Floats of 8 bits are multiplied as
// float16, which holds each of them.
std::optional<simt::MatrixUse> matrix_use(const ir::Operation& dot) {
  auto type = [&](int operand) { return dot.operand(operand)->type().dtype(); };
  for (int operand = 0; operand < 3; ++operand)
    if (!is_float(type(operand)) || type(operand) == DType::kFloat64) return std::nullopt;
  if (is_float8(type(0)))
    return simt::MatrixUse{.instruction = &simdgroup_matrix(),
                           .a = DType::kFloat16,
                           .b = DType::kFloat16,
                           .accumulator = DType::kFloat32};
  bool same = type(0) == type(1);
  return simt::MatrixUse{.instruction = &simdgroup_matrix(),
                         .a = same ? type(0) : DType::kFloat32,
                         .b = same ? type(1) : DType::kFloat32,
                         .accumulator = DType::kFloat32};
}

bool has_warp_reduction(ir::CombineKind kind, DType dtype) {
  bool is_word = dtype == DType::kInt32 || dtype == DType::kUInt32;
  if (kind == ir::CombineKind::kAdd) return is_word || dtype == DType::kFloat32;
  // What the vendor's extrema do with NaN is not said.
  return is_word && (kind == ir::CombineKind::kMax || kind == ir::CombineKind::kMin);
}

}  // namespace

const simt::SimtTarget& simt_target() {
  static const simt::SimtTarget target{.name = "Metal",
                                       .shared_bytes = kSharedBytes,
                                       .has_warp_reduction = has_warp_reduction,
                                       .matrix_use = matrix_use,
                                       .direct_fragments = true,
                                       .has_tallies = true,
                                       .matrix_name = "simdgroup"};
  return target;
}

}  // namespace enceladus::metal
