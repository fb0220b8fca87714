#include "codegen/cpu/gemm.h"

#include <llvm/IR/Module.h>

#include <algorithm>

#include "codegen/cpu/gemm_amx.h"
#include "codegen/cpu/gemm_micro.h"
#include "codegen/cpu/gemm_plan.h"
#include "codegen/cpu/gemm_row_sums.h"
#include "codegen/cpu/ir_loops.h"

namespace enceladus::cpu {
namespace {

// Emits the body of one product's function.
class TileProduct {
 public:
  TileProduct(llvm::IRBuilderBase& builder, const HostTarget& host, const GemmSpec& spec,
              const GemmArguments& arguments)
      : builder_(builder),
        spec_(spec),
        plan_(plan_gemm(host, spec)),
        row_stride_(gemm_row_stride(host, spec)),
        arguments_(arguments) {}

  void emit();

 private:
  struct Step {  // the part of K that is packed and multiplied at a time
    llvm::Value* first = nullptr;
    llvm::Value* depth = nullptr;
    llvm::Value* whole_depth = nullptr;  // rounded up to what is multiplied together, with zeros
    llvm::Value* groups = nullptr;
    llvm::Value* a = nullptr;           // its first column of A
    llvm::Value* packed_b = nullptr;    // its first panel
    llvm::Value* accumulate = nullptr;  // i1
  };
  struct RowBlock {
    llvm::Value* first = nullptr;
    llvm::Value* last_row = nullptr;  // counted from `first`
    llvm::Value* is_high = nullptr;   // i1
  };
  struct Rows {
    llvm::Value* base;
    llvm::Value* stride;
  };

  llvm::Value* constant(int64_t value) { return builder_.getInt64(value); }
  llvm::Value* at(llvm::Value* pointer, llvm::Value* bytes) {
    return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), pointer, bytes);
  }
  llvm::Value* minimum(llvm::Value* a, llvm::Value* b) {
    return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), a, b);
  }
  llvm::Value* times(llvm::Value* a, int64_t b) { return builder_.CreateMul(a, constant(b)); }
  MicroKernel micro_kernel() const {  // of the higher block
    return {.format = plan_.format,
            .rows = plan_.block.rows,
            .vectors = plan_.block.vectors,
            .a_step = plan_.a_path == APath::kPacked ? DepthStep::kStrided : DepthStep::kAdjacent};
  }
  // How much of this step an operand that ends at `end` has.
  llvm::Value* valid_depth(llvm::Value* end, const Step& step);
  llvm::Value* is_kept();
  llvm::Value* refresh_key(llvm::Value* is_kept);
  void emit_step(llvm::Value* first, llvm::Value* must_pack, llvm::Value* is_kept);
  void emit_row_blocks(const Step& step);
  void emit_row_block(const Step& step, const RowBlock& block);
  PackArguments pack_of_a(const Step& step, llvm::Value* source, llvm::Value* rows);
  Rows rows_of_a(const Step& step, const RowBlock& block);
  void emit_panels(const Step& step, const RowBlock& block, MicroArguments micro);
  void clear_at_edges();

  llvm::IRBuilderBase& builder_;
  const GemmSpec& spec_;
  const GemmPlan plan_;
  const int64_t row_stride_;
  const GemmArguments& arguments_;
  llvm::Value* first_tile_ = nullptr;  // of C, where row 0 of A meets column 0 of B
};

llvm::Value* TileProduct::valid_depth(llvm::Value* end, const Step& step) {
  if (end == nullptr) return step.depth;
  llvm::Value* rest = builder_.CreateSub(end, step.first);
  llvm::Value* some =
      builder_.CreateSelect(builder_.CreateICmpSGT(rest, constant(0)), rest, constant(0));
  return minimum(some, step.depth);
}

// Whether all of K fits the place where the packed B is kept.
llvm::Value* TileProduct::is_kept() {
  if (spec_.packed_b == PackedOperand::kTemporary) return builder_.getFalse();
  return builder_.CreateICmpSLE(arguments_.depth, constant(plan_.kept_depth));
}

// Compares the key of what is kept with what is wanted, and writes the wanted one. True where B has
// to be packed. The strides between neighbours and the types are the same at every call.
llvm::Value* TileProduct::refresh_key(llvm::Value* is_kept) {
  if (spec_.packed_b == PackedOperand::kTemporary) return builder_.getTrue();
  llvm::Value* b_depth = arguments_.b_depth ? arguments_.b_depth : arguments_.depth;
  llvm::Value* generation = arguments_.generation;
  // What does not fit is not kept: generation 0 is never a launch's.
  generation = builder_.CreateSelect(is_kept, generation, constant(0));
  llvm::Value* differs = builder_.CreateNot(is_kept);
  llvm::Value* slot = arguments_.scratch;
  for (llvm::Value* part :
       {generation, builder_.CreatePtrToInt(arguments_.b, builder_.getInt64Ty()),
        arguments_.b_depth_stride, arguments_.b_column_stride, arguments_.columns, arguments_.depth,
        b_depth}) {
    llvm::Value* known = builder_.CreateLoad(builder_.getInt64Ty(), slot);
    differs = builder_.CreateOr(differs, builder_.CreateICmpNE(known, part));
    builder_.CreateStore(part, slot);
    slot = at(slot, constant(8));
  }
  return differs;
}

void TileProduct::emit() {
  llvm::Value* kept = is_kept();
  llvm::Value* must_pack = refresh_key(kept);
  if (spec_.start == GemmStart::kZero) clear_at_edges();
  llvm::Value* first_column = times(arguments_.first_column, plan_.format.lane_bytes());
  first_tile_ = at(at(arguments_.c, times(arguments_.first_row, row_stride_)), first_column);
  if (plan_.format.uses_amx()) emit_amx_setup(builder_, plan_.block);
  // At least one step, which writes the zeros of an empty product.
  llvm::Value* some = builder_.CreateICmpSGT(arguments_.depth, constant(1));
  llvm::Value* end = builder_.CreateSelect(some, arguments_.depth, constant(1));
  emit_loop(builder_, {constant(0), end, plan_.depth_step},
            [&](llvm::Value* first) { emit_step(first, must_pack, kept); });
  if (plan_.format.uses_amx()) emit_amx_release(builder_);
}

void TileProduct::emit_step(llvm::Value* first, llvm::Value* must_pack, llvm::Value* is_kept) {
  const int group = plan_.format.group, unit = plan_.format.depth_unit();
  Step step{.first = first};
  step.depth = minimum(builder_.CreateSub(arguments_.depth, first), constant(plan_.depth_step));
  llvm::Value* units =
      builder_.CreateUDiv(builder_.CreateAdd(step.depth, constant(unit - 1)), constant(unit));
  step.groups = unit == group ? units : times(units, unit / group);
  step.whole_depth = unit == group ? step.depth : times(units, unit);
  step.a = at(arguments_.a, builder_.CreateMul(first, arguments_.a_depth_stride));
  llvm::Value* slot =
      times(builder_.CreateUDiv(first, constant(group)), plan_.panels * plan_.panel_row_bytes());
  slot = builder_.CreateSelect(is_kept, slot, constant(0));
  step.packed_b = at(arguments_.scratch, builder_.CreateAdd(slot, constant(plan_.b_offset)));
  step.accumulate = spec_.start == GemmStart::kTile ? builder_.getTrue()
                                                    : builder_.CreateICmpSGT(first, constant(0));
  emit_if(builder_, must_pack, [&] {
    emit_pack(builder_, plan_.b_packing,
              {.source = at(arguments_.b, builder_.CreateMul(first, arguments_.b_depth_stride)),
               .depth_stride = arguments_.b_depth_stride,
               .across_stride = arguments_.b_column_stride,
               .valid_depth = valid_depth(arguments_.b_depth, step),
               .depth = step.whole_depth,
               .extent = arguments_.columns,
               .readable = arguments_.columns,
               .target = step.packed_b});
  });
  if (plan_.a_path == APath::kPacked) {
    const PackArguments pack = pack_of_a(step, step.a, arguments_.rows);
    emit_pack(builder_, plan_.a_packing, pack);
    step.a = pack.target;
  }
  emit_row_blocks(step);
}

// Blocks of the two heights, the higher ones first, split evenly over the rows there are.
void TileProduct::emit_row_blocks(const Step& step) {
  const int high = plan_.block.rows, low = plan_.block.lower_rows;
  llvm::Value* blocks =
      builder_.CreateUDiv(builder_.CreateAdd(arguments_.rows, constant(high - 1)), constant(high));
  llvm::Value* missing = builder_.CreateSub(times(blocks, high), arguments_.rows);
  llvm::Value* lower_blocks = high == low ? constant(0) : minimum(missing, blocks);
  llvm::Value* higher_blocks = builder_.CreateSub(blocks, lower_blocks);
  emit_carrying_loop(builder_, {constant(0), blocks}, {constant(0)},
                     [&](llvm::Value* index, llvm::ArrayRef<llvm::Value*> carried) {
                       RowBlock block{.first = carried[0]};
                       block.is_high = builder_.CreateICmpSLT(index, higher_blocks);
                       llvm::Value* height =
                           builder_.CreateSelect(block.is_high, constant(high), constant(low));
                       llvm::Value* rest = builder_.CreateSub(arguments_.rows, block.first);
                       block.last_row = builder_.CreateSub(minimum(height, rest), constant(1));
                       emit_row_block(step, block);
                       return Values{builder_.CreateAdd(block.first, height)};
                     });
}

void TileProduct::emit_row_block(const Step& step, const RowBlock& block) {
  const int64_t lane_bytes = plan_.format.lane_bytes();
  MicroArguments micro{.groups = step.groups,
                       .last_row = block.last_row,
                       .c = at(first_tile_, times(block.first, row_stride_)),
                       .c_row_stride = constant(row_stride_),
                       .row_starts = nullptr,
                       .accumulate = step.accumulate};
  const Rows rows = rows_of_a(step, block);
  micro.a = rows.base;
  micro.a_row_stride = rows.stride;
  micro.a_depth_stride = constant(plan_.a_packing.width * lane_bytes);
  if (plan_.format.sign_fix != SignFix::kNone) {
    micro.row_starts = at(arguments_.scratch, constant(plan_.row_starts_offset));
    emit_row_sums(builder_, micro_kernel(), micro);
  }
  if (!plan_.format.uses_amx()) return emit_panels(step, block, micro);
  // The tiles are shaped for whole blocks but while the last one is multiplied.
  llvm::Value* is_partial = builder_.CreateICmpSLT(block.last_row, constant(plan_.block.rows - 1));
  emit_if(builder_, is_partial, [&] {
    emit_amx_setup(builder_, plan_.block, block.last_row,
                   at(arguments_.scratch, constant(plan_.row_starts_offset)));
  });
  emit_panels(step, block, micro);
  emit_if(builder_, is_partial, [&] { emit_amx_setup(builder_, plan_.block); });
}

// The packing or copying of `rows` rows of A from `source` on.
PackArguments TileProduct::pack_of_a(const Step& step, llvm::Value* source, llvm::Value* rows) {
  return {.source = source,
          .depth_stride = arguments_.a_depth_stride,
          .across_stride = arguments_.a_row_stride,
          .valid_depth = valid_depth(arguments_.a_depth, step),
          .depth = step.whole_depth,
          .extent = rows,
          .readable = rows,
          .target = at(arguments_.scratch, constant(plan_.a_offset))};
}

// The block's rows of A: where they lie, packed before or copied now.
TileProduct::Rows TileProduct::rows_of_a(const Step& step, const RowBlock& block) {
  const int64_t lane_bytes = plan_.format.lane_bytes();
  if (plan_.a_path == APath::kPacked) {
    llvm::Value* panel_bytes =
        builder_.CreateAdd(times(step.groups, plan_.a_packing.width * lane_bytes),
                           constant(plan_.a_packing.panel_gap_bytes()));
    llvm::Value* panel = builder_.CreateUDiv(block.first, constant(plan_.block.rows));
    panel = at(step.a, builder_.CreateMul(panel, panel_bytes));
    if (!plan_.format.uses_amx()) return {panel, constant(lane_bytes)};
    const Rows turned{at(arguments_.scratch, constant(plan_.rows_offset)),
                      constant(plan_.a_row_bytes)};
    emit_turned_panel(builder_, plan_.a_packing, panel, step.groups, turned.base, turned.stride);
    return turned;
  }
  llvm::Value* source = at(step.a, builder_.CreateMul(block.first, arguments_.a_row_stride));
  if (plan_.a_path == APath::kInPlace) return {source, arguments_.a_row_stride};
  const PackArguments pack =
      pack_of_a(step, source, builder_.CreateAdd(block.last_row, constant(1)));
  llvm::Value* stride = constant(plan_.a_row_bytes);
  auto copy = [&] {
    emit_copy_rows(builder_, plan_.a_packing, pack, stride);
    return pack.target;
  };
  if (plan_.a_path == APath::kCopied) return {copy(), stride};
  llvm::Value* partial = builder_.CreateURem(step.depth, constant(plan_.format.depth_unit()));
  llvm::Value* must_copy = builder_.CreateOr(builder_.CreateICmpSLT(pack.valid_depth, step.depth),
                                             builder_.CreateICmpNE(partial, constant(0)));
  llvm::Value* base = emit_if_else(builder_, must_copy, copy, [&] { return source; });
  return {base, builder_.CreateSelect(must_copy, stride, arguments_.a_row_stride)};
}

void TileProduct::emit_panels(const Step& step, const RowBlock& block, MicroArguments micro) {
  const int64_t width_bytes = plan_.panel_row_bytes();
  llvm::Value* panel_bytes = times(step.groups, width_bytes);
  MicroKernel kernel = micro_kernel();
  emit_carrying_loop(
      builder_, {constant(0), arguments_.columns, plan_.panel_width()}, {step.packed_b, micro.c},
      [&](llvm::Value*, llvm::ArrayRef<llvm::Value*> carried) {
        micro.b = carried[0];
        micro.c = carried[1];
        auto call = [&](int rows) {
          kernel.rows = rows;
          if (plan_.format.uses_amx())
            emit_amx_call(builder_, kernel, micro);
          else
            emit_micro_call(builder_, kernel, micro);
          return static_cast<llvm::Value*>(nullptr);
        };
        if (plan_.block.rows == plan_.block.lower_rows)
          call(plan_.block.rows);
        else
          emit_if_else(
              builder_, block.is_high, [&] { return call(plan_.block.rows); },
              [&] { return call(plan_.block.lower_rows); });
        return Values{at(carried[0], panel_bytes), at(carried[1], constant(width_bytes))};
      });
}

// Zeros for the rows and columns that do not exist: the whole tile, at the edges of arrays only.
void TileProduct::clear_at_edges() {
  llvm::Value* is_edge =
      builder_.CreateOr(builder_.CreateICmpSLT(arguments_.rows, constant(spec_.rows)),
                        builder_.CreateICmpSLT(arguments_.columns, constant(spec_.columns)));
  emit_if(builder_, is_edge, [&] {
    builder_.CreateMemSet(arguments_.c, builder_.getInt8(0), constant(spec_.rows * row_stride_),
                          llvm::MaybeAlign(plan_.format.lane_bytes()));
  });
}

std::string function_name(const GemmSpec& spec, const GemmPlan& plan) {
  std::string name = "dot_" + plan.format.name();
  auto add = [&](auto value) {
    name.append("_").append(std::to_string(static_cast<int64_t>(value)));
  };
  add(spec.rows), add(spec.columns), add(spec.depth), add(spec.depth_multiple);
  add(spec.a_order), add(spec.b_order), add(spec.start), add(spec.depth_edge);
  add(spec.packed_b);
  return name;
}

// The function's parameters in order. Absent arguments are passed as zero and not looked at.
llvm::SmallVector<llvm::Value*, 16> in_order(llvm::IRBuilderBase& builder,
                                             const GemmArguments& arguments) {
  auto or_zero = [&](llvm::Value* value) { return value ? value : builder.getInt64(0); };
  return {arguments.a,
          arguments.b,
          arguments.c,
          arguments.scratch,
          arguments.a_row_stride,
          arguments.a_depth_stride,
          arguments.b_depth_stride,
          arguments.b_column_stride,
          arguments.rows,
          arguments.columns,
          arguments.depth,
          or_zero(arguments.a_depth),
          or_zero(arguments.b_depth),
          or_zero(arguments.generation),
          or_zero(arguments.first_row),
          or_zero(arguments.first_column)};
}

GemmArguments parameters_of(llvm::Function* f, const GemmSpec& spec) {
  const bool may_differ = spec.depth_edge == DepthEdge::kMayDiffer;
  return {.a = f->getArg(0),
          .a_row_stride = f->getArg(4),
          .a_depth_stride = f->getArg(5),
          .b = f->getArg(1),
          .b_depth_stride = f->getArg(6),
          .b_column_stride = f->getArg(7),
          .rows = f->getArg(8),
          .columns = f->getArg(9),
          .depth = f->getArg(10),
          .a_depth = may_differ ? f->getArg(11) : nullptr,
          .b_depth = may_differ ? f->getArg(12) : nullptr,
          .c = f->getArg(2),
          .first_row = f->getArg(14),
          .first_column = f->getArg(15),
          .scratch = f->getArg(3),
          .generation = f->getArg(13)};
}

}  // namespace

int64_t gemm_row_stride(const HostTarget& host, const GemmSpec& spec) {
  int64_t beyond = 0;
  for (const ProductSize size : {ProductSize::kSmall, ProductSize::kLarge}) {
    const GemmFormat format = choose_format(host, spec.a, spec.b, spec.accumulator, size);
    const int vectors = choose_block(host, format, spec.rows, spec.columns).vectors;
    const int64_t panel_bytes = int64_t{vectors} * format.lanes * format.lane_bytes();
    beyond = std::max(beyond, panel_bytes + (vectors > 1 ? 64 : 0));
  }
  return int64_t{spec.columns} * byte_size(spec.accumulator) + beyond;
}

int64_t gemm_tile_bytes(const HostTarget& host, const GemmSpec& spec) {
  return spec.rows * gemm_row_stride(host, spec);
}

int64_t gemm_scratch_bytes(const HostTarget& host, const GemmSpec& spec) {
  return plan_gemm(host, spec).scratch_bytes;
}

void emit_gemm(llvm::IRBuilderBase& builder, const HostTarget& host, const GemmSpec& spec,
               const GemmArguments& arguments) {
  const llvm::SmallVector<llvm::Value*, 16> values = in_order(builder, arguments);
  llvm::SmallVector<llvm::Type*, 16> types;
  for (llvm::Value* value : values) types.push_back(value->getType());
  const InternalFunction made = internal_function(
      *builder.GetInsertBlock()->getModule(), function_name(spec, plan_gemm(host, spec)), types);
  if (made.is_new) {
    llvm::IRBuilder<> inner(llvm::BasicBlock::Create(builder.getContext(), "entry", made.function));
    const GemmArguments parameters = parameters_of(made.function, spec);
    TileProduct(inner, host, spec, parameters).emit();
    inner.CreateRetVoid();
  }
  builder.CreateCall(made.function, values);
}

}  // namespace enceladus::cpu
