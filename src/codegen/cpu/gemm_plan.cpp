#include "codegen/cpu/gemm_plan.h"

#include <algorithm>

namespace enceladus::cpu {
namespace {

constexpr int64_t kKeyBytes = 64;
constexpr int64_t kKeptBytes = int64_t{2} << 20;  // measured: 2 MiB kept still pays
constexpr int64_t kLongestStep = 1024;
// Multiply-adds from which AMX is set up: AVX-512 makes them in 2048 cycles.
constexpr int64_t kFewestForAmx = int64_t{1} << 16;

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

ProductSize size_of(const GemmSpec& spec) {
  const int64_t depth = spec.depth > 0 ? spec.depth : kLongestStep;
  const bool is_large = int64_t{spec.rows} * spec.columns * depth >= kFewestForAmx;
  return is_large ? ProductSize::kLarge : ProductSize::kSmall;
}

APath choose_a_path(const GemmSpec& spec, const GemmFormat& format) {
  if (spec.a_order != OperandOrder::kDepth) return APath::kPacked;
  if (!format.reads_a_in_place()) return APath::kCopied;
  const bool whole_units = spec.depth_multiple % format.depth_unit() == 0;
  if (spec.depth_edge == DepthEdge::kSame && whole_units) return APath::kInPlace;
  return APath::kMaybeCopied;
}

// The type of packed B: A's operand type, but bytes keep their own sign or change it.
DType packed_b_type(const GemmFormat& format) {
  const bool are_bytes =
      format.product == Product::kInt8Quads || format.product == Product::kInt8Amx;
  return are_bytes ? format.b_source : format.a_operand;
}

void place_in_scratch(GemmPlan& plan, const GemmSpec& spec) {
  const int64_t group = plan.format.group, lane_bytes = plan.format.lane_bytes();
  const int64_t step_groups = plan.depth_step / group;
  plan.row_starts_offset = kKeyBytes;
  plan.a_offset = plan.row_starts_offset + 64;
  // Sixteen lanes more than a step, so that rows do not fall on each other in the cache.
  plan.a_row_bytes = (step_groups + 16) * lane_bytes;
  int64_t a_bytes = 0;
  if (plan.a_path == APath::kPacked)
    a_bytes = (spec.rows + plan.block.rows - 1) / plan.block.rows *
              (step_groups * plan.block.rows * lane_bytes + plan.a_packing.panel_gap_bytes());
  plan.rows_offset = round_up(plan.a_offset + a_bytes, 64);
  const bool turns_panels = plan.a_path == APath::kPacked && plan.format.uses_amx();
  const bool has_rows =
      turns_panels || plan.a_path == APath::kMaybeCopied || plan.a_path == APath::kCopied;
  const int64_t rows_bytes = has_rows ? plan.block.rows * plan.a_row_bytes : 0;
  plan.b_offset = round_up(plan.rows_offset + rows_bytes, 64);
  const int64_t packed_groups = std::max(plan.kept_depth / group, step_groups);
  plan.scratch_bytes =
      round_up(plan.b_offset + packed_groups * plan.panels * plan.panel_row_bytes(), 64);
}

}  // namespace

std::string multiplied_by(const HostTarget& host, const GemmSpec& spec) {
  const GemmFormat taken = plan_gemm(host, spec).format;
  const GemmFormat large =
      choose_format(host, spec.a, spec.b, spec.accumulator, ProductSize::kLarge);
  const bool is_too_small = large.uses_amx() && !taken.uses_amx();
  return instruction_of(taken) + (is_too_small ? ", as the product is too small for AMX" : "");
}

GemmPlan plan_gemm(const HostTarget& host, const GemmSpec& spec) {
  GemmPlan plan{};
  plan.format = choose_format(host, spec.a, spec.b, spec.accumulator, size_of(spec));
  plan.block = choose_block(host, plan.format, spec.rows, spec.columns);
  plan.a_path = choose_a_path(spec, plan.format);
  // The blocks of a packed A are its panels, all of one height.
  if (plan.a_path == APath::kPacked) plan.block.lower_rows = plan.block.rows;
  const int lanes = plan.format.lanes;
  plan.b_packing = {.source = spec.b,
                    .packed = packed_b_type(plan.format),
                    .group = plan.format.group,
                    .lanes = lanes,
                    .width = plan.panel_width(),
                    .flips_top_bit = plan.format.sign_fix != SignFix::kNone,
                    .order = spec.b_order};
  plan.a_packing = {.source = spec.a,
                    .packed = plan.format.a_operand,
                    .group = plan.format.group,
                    .lanes = lanes,
                    .width = plan.block.rows,
                    .flips_top_bit = false,
                    .order = spec.a_order};
  plan.panels = (spec.columns + plan.panel_width() - 1) / plan.panel_width();
  const int64_t whole_turns = std::max(4 * plan.format.group, plan.format.depth_unit());
  const int64_t longest = spec.depth > 0 ? round_up(spec.depth, whole_turns) : INT64_MAX;
  plan.depth_step = std::min(longest, kLongestStep);
  if (spec.packed_b == PackedOperand::kKept) {
    const int64_t bytes_per_group = plan.panels * plan.panel_row_bytes();
    const int64_t fitting = kKeptBytes / bytes_per_group * plan.format.group;
    plan.kept_depth = std::min(longest, std::max(fitting, plan.depth_step));
    plan.kept_depth = plan.kept_depth / whole_turns * whole_turns;
  }
  place_in_scratch(plan, spec);
  return plan;
}

}  // namespace enceladus::cpu
