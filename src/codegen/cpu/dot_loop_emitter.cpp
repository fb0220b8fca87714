#include "codegen/cpu/dot_loop_emitter.h"

#include <algorithm>
#include <tuple>

#include "ir/builder.h"

namespace enceladus::cpu {
namespace {

using analysis::Sum;
using loop::DotOperand;

// What the accumulators of a tile of this type are while they are in registers.
DType accumulator_type(DType tile) {
  return is_float(tile) && byte_size(tile) < 4 ? DType::kFloat32 : tile;
}

// Axis order of an operand whose neighbours are `across` and `depth` elements apart.
OperandOrder order_of(const DotOperand& operand) {
  if (operand.depth_stride == Sum(1)) return OperandOrder::kDepth;
  if (operand.across_stride == Sum(1)) return OperandOrder::kAcross;
  return OperandOrder::kStrided;
}

int64_t power_of_two_of(const Sum& sum, const analysis::Facts& facts) {
  int64_t result = analysis::power_of_two_divisor(sum.constant());
  for (const analysis::Term& term : sum.terms()) {
    int64_t product = analysis::power_of_two_divisor(term.coefficient);
    for (int i = 0; i < term.factor_count && product < 64; ++i)
      product *= std::min<int64_t>(facts.divisibility(term.factors[static_cast<size_t>(i)]), 64);
    result = std::min(result, product);
  }
  return std::min<int64_t>(result, 64);
}

// What the depth is known to be a multiple of.
int64_t depth_multiple(const loop::DotLoop& plan, const analysis::Facts& facts) {
  int64_t result = analysis::power_of_two_divisor(plan.depth_per_turn);
  for (const DotOperand* operand : {&plan.a, &plan.b})
    for (const auto* list : {&operand->depth.from, &operand->depth.below})
      for (const Sum& bound : *list) result = std::min(result, power_of_two_of(bound, facts));
  return result;
}

struct Extent {
  llvm::Value* begin;
  llvm::Value* end;
};

class Emitter {
 public:
  Emitter(llvm::IRBuilderBase& builder, const loop::DotLoop& plan, ScalarLookup scalar)
      : builder_(builder), plan_(plan), scalar_(scalar) {}

  GemmArguments arguments(const GemmSpec& spec) {
    const Extent rows = extent(plan_.a.across, constant(plan_.rows));
    const Extent columns = extent(plan_.b.across, constant(plan_.columns));
    llvm::Value* all = builder_.CreateMul(turns(), constant(plan_.depth_per_turn));
    const Extent a_depth = extent(plan_.a.depth, all);
    const Extent b_depth = extent(plan_.b.depth, all);
    // Where one operand has not begun, or both have ended, there is nothing to add.
    llvm::Value* begin = greater(a_depth.begin, b_depth.begin);
    llvm::Value* end = greater(a_depth.end, b_depth.end);
    GemmArguments result{};
    std::tie(result.a_row_stride, result.a_depth_stride) = strides(plan_.a);
    std::tie(result.b_column_stride, result.b_depth_stride) = strides(plan_.b);
    result.a = element(plan_.a, rows.begin, begin);
    result.b = element(plan_.b, columns.begin, begin);
    result.rows = length(rows.begin, rows.end);
    result.columns = length(columns.begin, columns.end);
    result.depth = length(begin, end);
    if (spec.depth_edge == DepthEdge::kMayDiffer) {
      result.a_depth = length(begin, a_depth.end);
      result.b_depth = length(begin, b_depth.end);
    }
    result.first_row = rows.begin;
    result.first_column = columns.begin;
    return result;
  }

 private:
  llvm::Value* constant(int64_t value) { return builder_.getInt64(value); }
  llvm::Value* sum(const Sum& value) { return emit_sum(builder_, value, scalar_); }
  llvm::Value* greater(llvm::Value* a, llvm::Value* b) {
    return builder_.CreateSelect(builder_.CreateICmpSGT(a, b), a, b);
  }
  llvm::Value* smaller(llvm::Value* a, llvm::Value* b) {
    return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), a, b);
  }
  llvm::Value* length(llvm::Value* begin, llvm::Value* end) {
    return greater(builder_.CreateSub(end, begin), constant(0));
  }

  // ceil((upper - lower) / step), 0 where that is negative.
  llvm::Value* turns() {
    llvm::Value* lower = widened(plan_.loop->operand(0));
    llvm::Value* distance = builder_.CreateSub(widened(plan_.loop->operand(1)), lower);
    llvm::Value* some = greater(distance, constant(0));
    return builder_.CreateUDiv(builder_.CreateAdd(some, constant(plan_.step - 1)),
                               constant(plan_.step));
  }
  llvm::Value* widened(ir::Value* value) {
    return sum(ir::constant_integer(value) ? Sum(*ir::constant_integer(value)) : Sum(value));
  }

  Extent extent(const loop::IndexBounds& bounds, llvm::Value* most) {
    Extent result{constant(0), most};
    for (const Sum& bound : bounds.from) result.begin = greater(result.begin, sum(bound));
    for (const Sum& bound : bounds.below) result.end = smaller(result.end, sum(bound));
    return result;
  }

  // In bytes: across and along the depth.
  std::pair<llvm::Value*, llvm::Value*> strides(const DotOperand& operand) {
    llvm::Value* bytes = constant(byte_size(operand.dtype));
    return {builder_.CreateMul(sum(operand.across_stride), bytes),
            builder_.CreateMul(sum(operand.depth_stride), bytes)};
  }

  llvm::Value* element(const DotOperand& operand, llvm::Value* across, llvm::Value* depth) {
    const auto [across_bytes, depth_bytes] = strides(operand);
    llvm::Value* offset = builder_.CreateMul(sum(operand.base), constant(byte_size(operand.dtype)));
    offset = builder_.CreateAdd(offset, builder_.CreateMul(across, across_bytes));
    offset = builder_.CreateAdd(offset, builder_.CreateMul(depth, depth_bytes));
    return builder_.CreateGEP(builder_.getInt8Ty(), scalar_(operand.pointer), offset);
  }

  llvm::IRBuilderBase& builder_;
  const loop::DotLoop& plan_;
  ScalarLookup scalar_;
};

}  // namespace

llvm::Value* emit_sum(llvm::IRBuilderBase& builder, const Sum& sum, ScalarLookup scalar) {
  llvm::Value* result = builder.getInt64(sum.constant());
  for (const analysis::Term& term : sum.terms()) {
    llvm::Value* product = builder.getInt64(term.coefficient);
    for (int i = 0; i < term.factor_count; ++i) {
      const ir::Value* factor = term.factors[static_cast<size_t>(i)];
      product =
          builder.CreateMul(product, builder.CreateIntCast(scalar(factor), builder.getInt64Ty(),
                                                           is_signed(factor->type().dtype())));
    }
    result = builder.CreateAdd(result, product);
  }
  return result;
}

GemmSpec gemm_of(const loop::DotLoop& plan, const analysis::Facts& facts, PackedOperand packed_b) {
  GemmSpec spec{.a = plan.a.dtype,
                .b = plan.b.dtype,
                .accumulator = accumulator_type(plan.dot->result()->type().dtype()),
                .rows = static_cast<int>(plan.rows),
                .columns = static_cast<int>(plan.columns)};
  spec.depth_multiple = depth_multiple(plan, facts);
  spec.a_order = order_of(plan.a);
  spec.b_order = order_of(plan.b);
  spec.start = plan.starts_at_zero ? GemmStart::kZero : GemmStart::kTile;
  const bool same_end = plan.a.depth.below == plan.b.depth.below;
  spec.depth_edge = same_end ? DepthEdge::kSame : DepthEdge::kMayDiffer;
  spec.packed_b = packed_b;
  const std::optional<int64_t> lower = ir::constant_integer(plan.loop->operand(0));
  const std::optional<int64_t> upper = ir::constant_integer(plan.loop->operand(1));
  if (lower && upper && *lower < *upper)
    spec.depth = (*upper - *lower + plan.step - 1) / plan.step * plan.depth_per_turn;
  return spec;
}

void emit_dot_loop(llvm::IRBuilderBase& builder, const HostTarget& host, const GemmSpec& spec,
                   const loop::DotLoop& plan, const DotLoopPlace& place, ScalarLookup scalar) {
  GemmArguments arguments = Emitter(builder, plan, scalar).arguments(spec);
  arguments.c = place.tile;
  arguments.scratch = place.scratch;
  arguments.generation = place.generation;
  emit_gemm(builder, host, spec, arguments);
}

}  // namespace enceladus::cpu
