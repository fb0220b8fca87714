#include "lowering/tile_to_loop/dot_loop.h"

#include <algorithm>

#include "ir/builder.h"
#include "lowering/tile_to_loop/turn_forms.h"

namespace enceladus::loop {
namespace {

using analysis::Sum;
using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

// Why a loop is left as it is. Thrown within this file only, so that each condition is one line.
struct Refusal {
  std::string reason;
};

void require(bool condition, const char* reason) {
  if (!condition) throw Refusal{reason};
}

template <typename T>
const T& require_some(const std::optional<T>& value, const char* reason) {
  require(value.has_value(), reason);
  return *value;
}

// A conversion after which a product is the same as before it.
bool is_exact_cast(const Operation* op) {
  const DType from = op->operand(0)->type().dtype(), to = op->result()->type().dtype();
  if (is_bool(from) || is_bool(to) || is_float8(to)) return false;
  // bfloat16 has products of its own on some machines, which are not those of float32.
  if (from == DType::kBFloat16) return to == from;
  if (is_float(from))
    return is_float(to) && byte_size(to) >= byte_size(from) && to != DType::kBFloat16;
  const bool sign_fits = is_signed(from) == is_signed(to) || byte_size(to) > byte_size(from);
  return is_integer(to) && byte_size(to) >= byte_size(from) && sign_fits &&
         (is_signed(to) || !is_signed(from));
}

struct Source {
  Operation* load;
  bool is_transposed = false;
};

// From an operand of the dot back to its load; everything on the way serves the dot alone.
Source find_load(Value* operand) {
  Source source{operand->definition()};
  for (;; source.load = operand->definition()) {
    require(operand->definition() != nullptr, "an operand of the dot is carried by the loop");
    require(operand->users().size() == 1, "an operand of the dot has another use");
    const Operation* op = operand->definition();
    if (op->is(Opcode::kLoad) || op->is(Opcode::kDescriptorLoad)) break;
    if (op->is(Opcode::kTranspose))
      source.is_transposed = !source.is_transposed;
    else
      require((op->is(Opcode::kCast) && is_exact_cast(op)) || op->is(Opcode::kHint),
              "an operand of the dot is computed from what is loaded");
    operand = op->operand(0);
  }
  source.load = operand->definition();
  return source;
}

class OperandMatcher {
 public:
  OperandMatcher(const TurnForms& turns, analysis::AffineForms& forms, int64_t depth_per_turn)
      : turns_(turns), forms_(forms), depth_per_turn_(depth_per_turn) {}

  // `depth_axis` is that of the dot's operand: 1 for A, 0 for B.
  DotOperand match(Value* value, int depth_axis) {
    const Source source = find_load(value);
    operand_ = DotOperand();
    operand_.load = source.load;
    operand_.dtype = source.load->result()->type().dtype();
    require(source.load->integer_or(AttributeName::kVolatile, 0) == 0, "a load is volatile");
    depth_axis_ = source.is_transposed ? 1 - depth_axis : depth_axis;
    if (source.load->is(Opcode::kDescriptorLoad))
      match_descriptor(*source.load);
    else
      match_pointers(*source.load);
    return std::move(operand_);
  }

 private:
  IndexBounds& bounds(int axis) { return axis == depth_axis_ ? operand_.depth : operand_.across; }

  // How far the elements of an axis move a turn, counted in elements of that axis.
  Sum advance(int axis) const { return Sum(axis == depth_axis_ ? depth_per_turn_ : 0); }

  void match_pointers(const Operation& load) {
    const std::optional<TurnAddress> address = turns_.address(load.operand(0));
    require(address.has_value(), "an address is not a base and constant strides");
    operand_.pointer = address->pointer;
    operand_.base = address->offset.first;
    operand_.depth_stride = address->strides[static_cast<size_t>(depth_axis_)];
    operand_.across_stride = address->strides[static_cast<size_t>(1 - depth_axis_)];
    const std::optional<Sum> wanted = scaled(operand_.depth_stride, depth_per_turn_);
    require(wanted == address->offset.advance, "an operand does not advance by its own depth");
    if (load.operand(2) != nullptr)
      require(ir::constant_bits(load.operand(2)) == 0, "masked-off elements are not zero");
    if (load.operand(1) != nullptr) match_mask(load.operand(1));
  }

  void match_mask(Value* mask) {
    const analysis::MaskForm form = analysis::mask_form(mask, forms_);
    require(form.always && form.conditions.empty() && form.rest.empty(),
            "a mask is not a range of each axis");
    for (const analysis::MaskBound& bound : form.bounds) {
      require(bound.stride == 1, "a mask is not a range of each axis");
      const TurnSum limit =
          require_some(turns_.limit(bound.limit), "a mask's limit changes within the loop");
      require(limit.advance == *subtract(Sum(), advance(bound.axis)),
              "a mask does not move with the operand");
      const bool is_below = bound.side == analysis::MaskBound::Side::kBelow;
      auto& list = is_below ? bounds(bound.axis).below : bounds(bound.axis).from;
      list.push_back(limit.first);
    }
  }

  void match_descriptor(const Operation& load) {
    const Operation* descriptor = load.operand(0)->definition();
    require(descriptor != nullptr && descriptor->is(Opcode::kMakeDescriptor),
            "a descriptor is not made in the kernel's own straight code");
    require(load.result()->type().rank() == 2, "a descriptor is not two-dimensional");
    require(descriptor->integer_or(AttributeName::kPadding, 0) ==
                static_cast<int64_t>(ir::Padding::kZero),
            "a descriptor pads with NaN");
    const TurnAddress base =
        require_some(turns_.address(descriptor->operand(0)), "a descriptor's base is not known");
    require(base.offset.advance.is_zero(), "a descriptor moves within the loop");
    operand_.pointer = base.pointer;
    operand_.base = base.offset.first;
    for (int axis = 0; axis < 2; ++axis) add_axis(load, *descriptor, axis);
  }

  void add_axis(const Operation& load, const Operation& descriptor, int axis) {
    const char* reason = "a descriptor's offset, size or stride changes within the loop";
    const TurnSum offset = require_some(turns_.scalar(load.operand(1 + axis)), reason);
    const Sum size = forms_.scalar(descriptor.operand(1 + axis));
    const Sum stride = forms_.scalar(descriptor.operand(3 + axis));
    require(turns_.is_invariant(size) && turns_.is_invariant(stride), reason);
    require(offset.advance == advance(axis), "an operand does not advance by its own depth");
    (axis == depth_axis_ ? operand_.depth_stride : operand_.across_stride) = stride;
    const char* too_long = "an address is too long a sum";
    const Sum moved = require_some(multiply(offset.first, stride), too_long);
    operand_.base = require_some(add(operand_.base, moved), too_long);
    bounds(axis).from.push_back(require_some(subtract(Sum(), offset.first), too_long));
    bounds(axis).below.push_back(require_some(subtract(size, offset.first), too_long));
  }

  const TurnForms& turns_;
  analysis::AffineForms& forms_;
  int64_t depth_per_turn_;
  int depth_axis_ = 0;
  DotOperand operand_;
};

Operation* find_dot(Operation* loop) {
  Operation* dot = nullptr;
  for (Operation* op : *loop->region(0)) {
    if (op->is(Opcode::kYield) || op->is(Opcode::kAssume)) continue;
    if (op->is(Opcode::kDot)) {
      require(dot == nullptr, "the loop has more than one dot");
      dot = op;
      continue;
    }
    const bool is_load = op->is(Opcode::kLoad) || op->is(Opcode::kDescriptorLoad);
    require(op->regions().empty(), "the loop holds control flow or reductions");
    require(is_load || op->record().effect == ir::Effect::kPure,
            "the loop does more than load and multiply");
  }
  require(dot != nullptr, "the loop has no dot");
  return dot;
}

// Every load of the loop is an operand's.
void require_no_other_loads(const DotLoop& plan) {
  for (const Operation* op : *plan.loop->region(0)) {
    const bool is_load = op->is(Opcode::kLoad) || op->is(Opcode::kDescriptorLoad);
    require(!is_load || op == plan.a.load || op == plan.b.load,
            "the loop loads more than the dot's operands");
  }
}

int find_accumulator(const Operation* loop, const Operation* dot) {
  const Value* sum = dot->operand(2);
  require(sum->argument_of() == loop->region(0) && sum->index() > 0,
          "the dot does not add to an accumulator that the loop carries");
  require(sum->users().size() == 1, "the accumulator has another use in the loop");
  const int result = sum->index() - 1;
  const Operation* yield = loop->region(0)->terminator();
  require(yield->operand(result) == dot->result() && dot->result()->users().size() == 1,
          "the dot's result has another use in the loop");
  for (const Value* other : loop->results())
    require(other->index() == result || !other->has_users(),
            "another value that the loop carries is used behind it");
  return result;
}

bool is_zero(const Value* value) {
  while (value->definition() != nullptr && value->definition()->is(Opcode::kSplat))
    value = value->definition()->operand(0);
  return ir::constant_bits(value) == 0;  // -0.0 is another start
}

// Bounds that hold for every element of the tile need no check at run time.
void drop_needless_bounds(IndexBounds& bounds, const analysis::Facts& facts) {
  auto is_never_positive = [&](const Sum& sum) {
    analysis::Range range = analysis::Range::of(sum.constant());
    for (const analysis::Term& term : sum.terms()) {
      analysis::Range product = analysis::Range::of(term.coefficient);
      for (int i = 0; i < term.factor_count; ++i)
        product = product * facts.range(term.factors[static_cast<size_t>(i)]);
      range = range + product;
    }
    return range.high <= 0;
  };
  std::erase_if(bounds.from, is_never_positive);
}

DotLoop match(Operation* loop, analysis::AffineForms& forms, const analysis::Facts& facts) {
  const ir::FunctionOptions& options = loop->parent()->function()->options();
  DotLoop plan;
  plan.loop = loop;
  plan.dot = find_dot(loop);
  plan.result = find_accumulator(loop, plan.dot);
  const ir::Type& a = plan.dot->operand(0)->type();
  require(a.rank() == 2, "the dot is batched");
  plan.rows = a.extent(0);
  plan.depth_per_turn = a.extent(1);
  plan.columns = plan.dot->operand(1)->type().extent(1);
  const Sum step = forms.scalar(loop->operand(2));
  require(step.is_constant() && step.constant() > 0, "the loop's step is not a positive constant");
  plan.step = step.constant();
  plan.starts_at_zero = is_zero(loop->operand(3 + plan.result));
  const TurnForms turns(loop, forms, options.arrays_small);
  OperandMatcher matcher(turns, forms, plan.depth_per_turn);
  plan.a = matcher.match(plan.dot->operand(0), 1);
  plan.b = matcher.match(plan.dot->operand(1), 0);
  require_no_other_loads(plan);
  for (IndexBounds* bounds : {&plan.a.across, &plan.a.depth, &plan.b.across, &plan.b.depth})
    drop_needless_bounds(*bounds, facts);
  return plan;
}

}  // namespace

DotLoopMatch match_dot_loop(Operation* loop, analysis::AffineForms& forms,
                            const analysis::Facts& facts) {
  try {
    return {match(loop, forms, facts), {}};
  } catch (const Refusal& refusal) {
    return {std::nullopt, refusal.reason};
  }
}

}  // namespace enceladus::loop
