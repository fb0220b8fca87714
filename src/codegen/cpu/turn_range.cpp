#include "codegen/cpu/turn_range.h"

#include <llvm/ADT/bit.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <set>

#include "codegen/cpu/scalar_emitter.h"

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using llvm::Value;
using Views = std::vector<int>;

class RangeFinder {
 public:
  RangeFinder(LaneEvaluator& evaluator, int64_t turns)
      : evaluator_(evaluator), builder_(evaluator.kernel().builder()), turns_(turns) {}

  void visit(const ir::Value* value, const Views& views) {
    if (value == nullptr || !value->type().is_tile()) return;
    if (!seen_.insert({value, views.front()}).second) return;
    const ir::Operation* op = value->definition();
    if (op == nullptr || evaluator_.is_stored(value)) return;
    if (op->is(Opcode::kLoad) && op->operand(1) != nullptr) visit_condition(op->operand(1), views);
    if (op->is(Opcode::kDescriptorLoad)) visit_block(op, views);
    for (const ir::Value* operand : op->operands())
      if (operand != nullptr) visit(operand, views_of(op, views));
  }

  void visit_condition(const ir::Value* condition, const Views& views) {
    const ir::Operation* op = condition->definition();
    if (op == nullptr || !condition->type().is_tile() || evaluator_.is_stored(condition)) return;
    switch (op->opcode()) {
      case Opcode::kAnd:
        visit_condition(op->operand(0), views);
        return visit_condition(op->operand(1), views);
      case Opcode::kBroadcast:
      case Opcode::kExpandDims:
      case Opcode::kReshape:
      case Opcode::kTranspose:
        return visit_condition(op->operand(0), views_of(op, views));
      case Opcode::kSplat:
        restrict_to(evaluator_.kernel().scalar(op->operand(0)));
        return note(condition, views);
      case Opcode::kLt:
      case Opcode::kLe:
      case Opcode::kGt:
      case Opcode::kGe:
        if (visit_comparison(op, views)) note(condition, views);
        return;
      default:
        return;
    }
  }

  // Every axis of a block access: 0 <= offset + coordinate < size.
  void visit_block(const ir::Operation* access, const Views& views) {
    const ir::Operation* made = access->operand(0)->definition();
    const int first = access->is(Opcode::kDescriptorLoad) ? 1 : 2;
    const int rank = static_cast<int>(evaluator_.index_of(views.front()).size());
    for (int axis = 0; axis < rank; ++axis) {
      const auto offset =
          evaluator_.affine(access->operand(first + axis), views.front(), Precision::kUnlimited);
      const Affine position =
          evaluator_.sum(evaluator_.index_of(views.front())[static_cast<size_t>(axis)], *offset);
      if (!can_decide(position)) return;
      positions_.push_back(position);
    }
    for (int axis = 0; axis < rank; ++axis) {
      const Affine& position = positions_[positions_.size() - static_cast<size_t>(rank - axis)];
      Value* base = start_of(position);
      Value* size = exact_integer(evaluator_.kernel(), made->operand(1 + axis));
      require_below(position, base, size);
      if (!is_never_negative(position)) require_from(position, base, builder_.getInt64(0));
    }
    for (const int view : views) range_.conditions.push_back({access, view});
  }

  std::optional<TurnRange> take() {
    if (range_.conditions.empty()) return std::nullopt;
    range_.starts_at_zero = range_.begin == nullptr;
    if (range_.begin == nullptr) range_.begin = builder_.getInt64(0);
    if (range_.end == nullptr) range_.end = constant(turns_);
    if (is_possible_ != nullptr)
      range_.end = builder_.CreateSelect(is_possible_, range_.end, range_.begin);
    range_.begin = minimum(range_.begin, constant(turns_));
    range_.end = maximum(range_.begin, minimum(range_.end, constant(turns_)));
    return range_;
  }

 private:
  Views views_of(const ir::Operation* op, const Views& views) {
    const bool is_splat = op->is(Opcode::kSplat);
    if (op->record().op_class != ir::OpClass::kShape || is_splat) return views;
    Views mapped;
    for (const int view : views) mapped.push_back(evaluator_.operand_view(op, view));
    return mapped;
  }

  void note(const ir::Value* condition, const Views& views) {
    for (const int view : views) range_.conditions.push_back({condition, view});
  }

  llvm::ConstantInt* constant(int64_t value) {
    return builder_.getInt64(static_cast<uint64_t>(value));
  }
  Value* minimum(Value* a, Value* b) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
  }
  Value* maximum(Value* a, Value* b) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
  }

  bool can_decide(const Affine& moving) const {
    const bool is_outer = moving.base == nullptr || moving.level < evaluator_.inner_level();
    const bool is_power =
        moving.step == 0 || llvm::has_single_bit(static_cast<uint64_t>(moving.step));
    return is_outer && moving.step >= 0 && is_power && moving.smallest_pattern() >= 0;
  }

  bool is_never_negative(const Affine& position) const {
    return position.base == nullptr && position.constant >= 0;
  }

  Value* start_of(const Affine& moving) {
    Value* start = constant(moving.constant);
    return moving.base ? builder_.CreateAdd(moving.base, start) : start;
  }

  bool visit_comparison(const ir::Operation* op, const Views& views) {
    const bool is_swapped = is_bound(op->operand(0), views) && !is_bound(op->operand(1), views);
    const ir::Value* moving_value = op->operand(is_swapped ? 1 : 0);
    const ir::Value* bound_value = op->operand(is_swapped ? 0 : 1);
    const DType dtype = moving_value->type().dtype();
    if (!moving_value->type().is_integer() || is_bool(dtype)) return false;
    if (dtype == DType::kUInt64 || !is_bound(bound_value, views)) return false;
    const auto moving = evaluator_.affine(moving_value, views.front(), Precision::kTyped);
    if (!moving || !can_decide(*moving)) return false;
    const Lanes bound_lanes = evaluator_.evaluate(bound_value, views.front());
    Value* bound = widen_to_int64(evaluator_.kernel().emission, bound_lanes.value, dtype);
    const bool is_less = op->is(Opcode::kLt) || op->is(Opcode::kLe);
    const bool is_strict = op->is(Opcode::kLt) || op->is(Opcode::kGt);
    Value* start = wrapped_start(*moving, dtype);
    if (is_less != is_swapped) {  // moving < bound, moving <= bound
      require_below(*moving, start, is_strict ? bound : builder_.CreateAdd(bound, constant(1)));
    } else {
      require_from(*moving, start, is_strict ? builder_.CreateAdd(bound, constant(1)) : bound);
      require_below(*moving, start, constant(largest(dtype)));  // beyond it would have wrapped
    }
    return true;
  }

  bool is_bound(const ir::Value* value, const Views& views) {
    const Lanes lanes = evaluator_.evaluate(value, views.front());
    return lanes.is_uniform && lanes.level < evaluator_.inner_level();
  }

  static int64_t largest(DType dtype) {
    const int width = bit_width(dtype) - (is_signed(dtype) ? 1 : 0);
    return width >= 63 ? INT64_MAX : (int64_t{1} << width) - 1;
  }

  // Where the lanes start, as the type's own arithmetic has it. From there no lane that is below a
  // bound of the type has wrapped.
  Value* wrapped_start(const Affine& moving, DType dtype) {
    Value* start = start_of(moving);
    if (bit_width(dtype) == 64) return start;
    llvm::Type* type = builder_.getIntNTy(static_cast<unsigned>(bit_width(dtype)));
    return widen_to_int64(evaluator_.kernel().emission, builder_.CreateTrunc(start, type), dtype);
  }

  // start + step * turn + pattern < bound in all lanes.
  void require_below(const Affine& moving, Value* start, Value* bound) {
    Value* room = builder_.CreateSub(bound, start);
    room = builder_.CreateSub(room, constant(moving.largest_pattern() + 1));
    if (moving.step == 0) return restrict_to(builder_.CreateICmpSGE(room, constant(0)));
    Value* end = builder_.CreateAdd(divided(room, moving.step), constant(1));
    range_.end = range_.end ? minimum(range_.end, end) : end;
  }

  // start + step * turn + pattern >= bound in all lanes.
  void require_from(const Affine& moving, Value* start, Value* bound) {
    Value* missing = builder_.CreateSub(bound, start);
    missing = builder_.CreateSub(missing, constant(moving.smallest_pattern()));
    if (moving.step == 0) return restrict_to(builder_.CreateICmpSLE(missing, constant(0)));
    Value* begin = divided(builder_.CreateAdd(missing, constant(moving.step - 1)), moving.step);
    range_.begin = maximum(range_.begin ? range_.begin : constant(0), begin);
  }

  Value* divided(Value* value, int64_t power_of_two) {  // rounds down
    return builder_.CreateAShr(value, constant(llvm::Log2_64(static_cast<uint64_t>(power_of_two))));
  }

  void restrict_to(Value* condition) {
    is_possible_ = is_possible_ ? builder_.CreateAnd(is_possible_, condition) : condition;
  }

  LaneEvaluator& evaluator_;
  llvm::IRBuilder<>& builder_;
  int64_t turns_;
  std::set<std::pair<const ir::Value*, int>> seen_;
  std::vector<Affine> positions_;
  Value* is_possible_ = nullptr;
  TurnRange range_;
};

}  // namespace

std::optional<TurnRange> find_turn_range(LaneEvaluator& evaluator, const loop::Group& group,
                                         const std::vector<int>& views, int64_t turns) {
  RangeFinder finder(evaluator, turns);
  for (const loop::Root& root : group.roots) {
    if (root.kind == loop::RootKind::kWrite) {
      finder.visit(root.value, views);
      continue;
    }
    if (root.op->is(Opcode::kStore) && root.op->operand(2) != nullptr)
      finder.visit_condition(root.op->operand(2), views);
    if (root.op->is(Opcode::kDescriptorStore)) finder.visit_block(root.op, views);
    for (const ir::Value* operand : root.op->operands()) finder.visit(operand, views);
  }
  return finder.take();
}

}  // namespace enceladus::cpu
