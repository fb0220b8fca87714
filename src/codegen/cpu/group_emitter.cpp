#include "codegen/cpu/group_emitter.h"

#include <functional>
#include <memory>

#include "codegen/cpu/atomics.h"
#include "codegen/cpu/ir_loops.h"
#include "codegen/cpu/lane_evaluator.h"
#include "codegen/cpu/loop_nest.h"
#include "codegen/cpu/reduction_emitter.h"
#include "codegen/cpu/reports.h"
#include "codegen/cpu/scan_emitter.h"
#include "codegen/cpu/streaming.h"
#include "codegen/cpu/turn_range.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using llvm::Value;
using loop::RootKind;

class GroupEmitter {
 public:
  GroupEmitter(KernelState& kernel, const loop::Group& group)
      : kernel_(kernel),
        builder_(kernel.builder()),
        group_(group),
        nest_(make_loop_nest(group, kernel.emission.host)),
        evaluator_(kernel, nest_.lanes) {
    for (const loop::Root& root : group.roots) {
      if (root.is_definition) evaluator_.compute_here(root.value);
      if (root.kind == RootKind::kReduce) reductions_.emplace_back(evaluator_, nest_, root.op);
      if (root.kind == RootKind::kScan) scans_.emplace_back(evaluator_, nest_, root.op);
    }
  }

  void emit() {
    evaluator_.open_level();
    outer_positions_.assign(group_.space.size(), nullptr);
    outer_levels_.assign(group_.space.size(), 0);
    emit_outer(0);
    evaluator_.close_level();
  }

 private:
  void emit_outer(size_t depth) {
    if (depth == nest_.outer_axes.size()) return emit_inner();
    const size_t axis = static_cast<size_t>(nest_.outer_axes[depth]);
    const LoopBounds bounds{builder_.getInt64(0), constant(nest_.axis_turns[axis])};
    emit_loop(builder_, bounds, [&](Value* turn) {
      outer_positions_[axis] = builder_.CreateMul(turn, constant(nest_.axis_lanes[axis]));
      outer_levels_[axis] = evaluator_.inner_level();
      evaluator_.open_level();
      emit_outer(depth + 1);
      evaluator_.close_level();
    });
  }

  llvm::ConstantInt* constant(int64_t value) {
    return builder_.getInt64(static_cast<uint64_t>(value));
  }

  // The view of the vector that a turn takes as its `piece`.
  int view_of_piece(int piece) {
    Index index(group_.space.size());
    for (size_t axis = 0; axis < index.size(); ++axis) {
      Affine& coordinate = index[axis];
      coordinate.base = outer_positions_[axis];
      coordinate.level = outer_levels_[axis];
      const int64_t lanes = nest_.axis_lanes[axis], stride = nest_.lane_stride(int(axis));
      if (static_cast<int>(axis) == nest_.inner_axis) {
        const int64_t turns = nest_.inner_turns();
        coordinate.step = group_.is_reverse ? -lanes : lanes;
        coordinate.constant = group_.is_reverse ? (turns - 1 - piece) * lanes : piece * lanes;
      }
      if (lanes == 1) continue;
      for (int lane = 0; lane < nest_.lanes; ++lane)
        coordinate.pattern.push_back(lane / stride % lanes);
    }
    return evaluator_.intern(index);
  }

  void emit_inner() {
    views_.clear();
    for (int piece = 0; piece < nest_.unroll; ++piece) views_.push_back(view_of_piece(piece));
    for (ReductionEmitter& reduction : reductions_) reduction.begin();
    for (ScanEmitter& scan : scans_) scan.begin();
    const int64_t turns = nest_.inner_turns();
    if (turns == 1) {
      emit_body(builder_.getInt64(0), 1);
    } else {
      emit_turns(turns);
    }
    for (ReductionEmitter& reduction : reductions_) reduction.finish(views_[0]);
  }

  void emit_turns(int64_t turns) {
    evaluator_.begin_body(llvm::PoisonValue::get(builder_.getInt64Ty()), turns);
    std::optional<TurnRange> range;
    if (!group_.is_ordered) range = find_turn_range(evaluator_, group_, views_, turns);
    if (!range) return emit_main_turns(builder_.getInt64(0), counter_at(constant(turns)));
    Value* begin = counter_at(range->begin);
    if (!range->starts_at_zero) emit_masked_turns(builder_.getInt64(0), begin);
    Value* length = builder_.CreateSub(range->end, range->begin);
    length = builder_.CreateAnd(length, constant(-nest_.unroll));
    Value* end = counter_at(builder_.CreateAdd(range->begin, length));
    for (const auto& [condition, view] : range->conditions) evaluator_.assume(condition, view);
    emit_main_turns(begin, end);
    evaluator_.forget_assumptions();
    emit_masked_turns(end, counter_at(constant(turns)));
  }

  // The innermost loop counts elements, not turns: an address is then base + counter.
  int64_t elements_per_turn() const { return nest_.axis_lanes[size_t(nest_.inner_axis)]; }
  Value* counter_at(Value* turn) {
    const int64_t elements = elements_per_turn();
    return elements == 1 ? turn : builder_.CreateNSWMul(turn, constant(elements));
  }

  void emit_masked_turns(Value* begin, Value* end) {
    emit_loop(builder_, {begin, end, elements_per_turn()},
              [&](Value* counter) { emit_body(counter, 1); });
  }

  // The turns that take several vectors, without masks where masks can be decided; twice where the
  // launch decides how to store.
  void emit_main_turns(Value* begin, Value* end) {
    auto emit = [&](bool is_entered) {
      emit_loop(builder_, {begin, end, nest_.unroll * elements_per_turn(), is_entered},
                [&](Value* counter) { emit_body(counter, nest_.unroll); });
    };
    // In front of the loop no turn is known; that of a loop before must not be taken for it.
    evaluator_.begin_body(llvm::PoisonValue::get(builder_.getInt64Ty()), nest_.inner_turns());
    Value* streams = group_.is_ordered ? nullptr : streaming_condition(evaluator_, group_, views_);
    if (streams == nullptr) return emit(/*is_entered=*/false);
    auto emit_streaming = [&]() -> Value* {
      stores_stream_ = true;
      emit(/*is_entered=*/true);
      stores_stream_ = false;
      return nullptr;
    };
    auto emit_cached = [&]() -> Value* {
      emit(/*is_entered=*/true);
      return nullptr;
    };
    emit_if(builder_, builder_.CreateICmpSLT(begin, end),
            [&] { emit_if_else(builder_, streams, emit_streaming, emit_cached); });
  }

  void emit_body(Value* counter, int pieces) {
    const int64_t elements = nest_.inner_turns() == 1 ? 1 : elements_per_turn();
    evaluator_.begin_body(counter, nest_.inner_turns(), elements);
    for (int piece = 0; piece < pieces; ++piece) {
      writes_.clear();
      size_t reduction = 0, scan = 0;
      for (const loop::Root& root : group_.roots) {
        if (root.kind == RootKind::kReduce) {
          reductions_[reduction++].accumulate(views_[size_t(piece)], piece);
        } else if (root.kind == RootKind::kScan) {
          read_scan(root, scans_[scan++], views_[size_t(piece)]);
        } else {
          read_root(root, views_[size_t(piece)]);
        }
      }
      for (const auto& write : writes_) write();
    }
  }

  // --- roots: all reads first, the writes are put off
  // ---------------------------------------------

  void write_tile(const ir::Value* value, int buffer, Lanes lanes, int view) {
    writes_.push_back([=, this] {
      evaluator_.store(evaluator_.buffer_address(buffer, view), value->type().element(), lanes, {});
    });
  }

  void read_scan(const loop::Root& root, ScanEmitter& scan, int view) {
    const Parts parts = scan.scan(view);
    for (size_t part = 0; part < parts.size(); ++part) {
      const ir::Value* result = root.op->result(static_cast<int>(part));
      const Lanes lanes{parts[part], nest_.lanes == 1, evaluator_.inner_level()};
      if (result->has_users()) write_tile(result, kernel_.plan.buffer(result), lanes, view);
    }
  }

  void read_root(const loop::Root& root, int view) {
    if (root.kind == RootKind::kWrite)
      return write_tile(root.value, root.buffer, evaluator_.evaluate(root.value, view), view);
    const ir::Operation* op = root.op;
    if (op->is(Opcode::kStore)) {
      Lanes mask;
      if (op->operand(2) != nullptr) mask = evaluator_.evaluate(op->operand(2), view);
      read_store(op, evaluator_.address(op->operand(0), view), mask, op->operand(1), view);
    } else if (op->is(Opcode::kDescriptorStore)) {
      const Lanes mask = evaluator_.descriptor_mask(op, view);
      read_store(op, evaluator_.descriptor_address(op, view), mask, op->operand(1), view);
    } else {
      emit_effect(root, view);
    }
  }

  void read_store(const ir::Operation* op, const Address& address, const Lanes& mask,
                  const ir::Value* value, int view) {
    const Lanes lanes = evaluator_.evaluate(value, view);
    const ir::Type element = ir::Type::number(op->operand(0)->type().dtype());
    const StoreKind kind = stores_stream_ ? StoreKind::kStreaming : StoreKind::kCached;
    writes_.push_back([=, this] {
      const Lanes inside = evaluator_.check_bounds(op, address, mask, view);
      evaluator_.store(address, element, lanes, inside, kind);
    });
  }

  // Atomics, prints and assertions: element by element. They are alone in their group.
  void emit_effect(const loop::Root& root, int view) {
    const ir::Operation* op = root.op;
    if (op->is(Opcode::kDevicePrint)) return emit_printed(op, root.part, view);
    llvm::SmallVector<Value*, 4> operands;
    for (const ir::Value* operand : op->operands())
      operands.push_back(operand ? evaluator_.as_vector(evaluator_.evaluate(operand, view))
                                 : nullptr);
    if (op->is(Opcode::kDeviceAssert)) return emit_assertion(kernel_, op, operands);
    Value*& mask = operands[static_cast<size_t>(mask_operand(op))];
    mask = emit_bounds_check(kernel_, op, operands[0], mask, evaluator_.position_of(view));
    Value* old = emit_atomic(kernel_, op, operands);
    if (!op->result()->has_users()) return;
    const Lanes lanes{old, nest_.lanes == 1, evaluator_.inner_level()};
    write_tile(op->result(), kernel_.plan.buffer(op->result()), lanes, view);
  }

  void emit_printed(const ir::Operation* op, int part, int view) {
    const ir::Value* value = op->operand(part);
    llvm::SmallVector<Value*, 8> position;
    if (value->type().is_tile()) position = evaluator_.position_of(view);
    emit_print(kernel_, op, part, evaluator_.as_vector(evaluator_.evaluate(value, view)), position);
  }

  KernelState& kernel_;
  llvm::IRBuilder<>& builder_;
  const loop::Group& group_;
  const LoopNest nest_;
  LaneEvaluator evaluator_;
  std::vector<ReductionEmitter> reductions_;
  std::vector<ScanEmitter> scans_;
  std::vector<Value*> outer_positions_;  // of each axis: the outer loops' part of its coordinate
  std::vector<int> outer_levels_;
  std::vector<int> views_;
  bool stores_stream_ = false;
  std::vector<std::function<void()>> writes_;
};

}  // namespace

void emit_group(KernelState& kernel, const loop::Group& group) {
  GroupEmitter(kernel, group).emit();
}

}  // namespace enceladus::cpu
