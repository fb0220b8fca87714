#include "analysis/mask.h"

#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::analysis {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

// Which axis of the mask each axis of the inner value is.
using Axes = std::vector<int>;

struct Comparison {
  const Affine* small;  // small < large, or small <= large
  const Affine* large;
  bool or_equal;
};

std::optional<Comparison> comparison(const Operation& op, AffineForms& forms) {
  if (op.operand_count() != 2 || !op.operand(0)->type().is_integer()) return std::nullopt;
  const Affine* a = forms.of(op.operand(0));
  const Affine* b = forms.of(op.operand(1));
  if (!a || !b) return std::nullopt;
  switch (op.opcode()) {
    case Opcode::kLt:
      return Comparison{a, b, false};
    case Opcode::kLe:
      return Comparison{a, b, true};
    case Opcode::kGt:
      return Comparison{b, a, false};
    case Opcode::kGe:
      return Comparison{b, a, true};
    default:
      return std::nullopt;
  }
}

// From base_a + index * s_a < base_b + index * s_b to index * |s_a - s_b| on one side of a limit.
std::optional<MaskBound> bound_of(const Comparison& comparison) {
  MaskBound bound;
  int found = 0;
  for (size_t axis = 0; axis < comparison.small->strides.size(); ++axis) {
    std::optional<Sum> stride =
        subtract(comparison.small->strides[axis], comparison.large->strides[axis]);
    if (!stride || !stride->is_constant()) return std::nullopt;
    if (stride->is_zero()) continue;
    ++found;
    bound.axis = static_cast<int>(axis);
    bound.stride = stride->constant();
  }
  if (found != 1) return std::nullopt;
  std::optional<Sum> room = subtract(comparison.large->base, comparison.small->base);
  if (room && comparison.or_equal) room = add(*room, Sum(1));
  if (!room) return std::nullopt;
  if (bound.stride > 0) {  // index * stride < room
    bound.limit = std::move(*room);
    return bound;
  }
  // -index * |stride| < room, that is index * |stride| >= 1 - room
  std::optional<Sum> limit = subtract(Sum(1), *room);
  if (!limit || bound.stride == INT64_MIN) return std::nullopt;
  bound.side = MaskBound::Side::kFrom;
  bound.stride = -bound.stride;
  bound.limit = std::move(*limit);
  return bound;
}

class Decomposer {
 public:
  Decomposer(AffineForms& forms, MaskForm& form) : forms_(forms), form_(form) {}

  // False where the value, seen through `axes`, has no form; nothing is added then.
  bool take(Value* value, const Axes& axes) {
    if (value->type().rank() == 0) return take_scalar(value);
    const Operation* op = value->definition();
    if (!op) return false;
    switch (op->opcode()) {
      case Opcode::kConstant:
        if (!*ir::constant_bits(value)) form_.always = false;
        return true;
      case Opcode::kAnd:
        return take_both(*op, axes);
      case Opcode::kSplat:
        return take_scalar(op->operand(0));
      case Opcode::kBroadcast:
      case Opcode::kHint:
        return take(op->operand(0), axes);
      case Opcode::kExpandDims: {
        Axes inner = axes;
        inner.erase(inner.begin() + op->integer(AttributeName::kAxis));
        return take(op->operand(0), inner);
      }
      case Opcode::kTranspose: {
        Axes inner(axes.size());
        std::span<const int64_t> permutation = op->integers(AttributeName::kPermutation);
        for (size_t axis = 0; axis < axes.size(); ++axis)
          inner[static_cast<size_t>(permutation[axis])] = axes[axis];
        return take(op->operand(0), inner);
      }
      default:
        return take_comparison(*op, axes);
    }
  }

  // Like take, but what has no form becomes part of the rest.
  void take_all(Value* value, const Axes& axes) {
    const Operation* op = value->definition();
    if (op && op->is(Opcode::kAnd) && value->type().rank() > 0) {
      take_all(op->operand(0), axes);
      take_all(op->operand(1), axes);
    } else if (!take(value, axes)) {
      form_.rest.push_back(value);
    }
  }

 private:
  bool take_scalar(Value* value) {
    std::optional<uint64_t> bits = ir::constant_bits(value);
    if (!bits) form_.conditions.push_back(value);
    if (bits && !*bits) form_.always = false;
    return true;
  }

  bool take_both(const Operation& op, const Axes& axes) {
    MaskForm saved = form_;
    if (take(op.operand(0), axes) && take(op.operand(1), axes)) return true;
    form_ = std::move(saved);
    return false;
  }

  bool take_comparison(const Operation& op, const Axes& axes) {
    std::optional<Comparison> sides = comparison(op, forms_);
    std::optional<MaskBound> bound = sides ? bound_of(*sides) : std::nullopt;
    if (!bound) return false;
    bound->axis = axes[static_cast<size_t>(bound->axis)];
    form_.bounds.push_back(std::move(*bound));
    return true;
  }

  AffineForms& forms_;
  MaskForm& form_;
};

}  // namespace

MaskForm mask_form(Value* mask, AffineForms& forms) {
  ENC_CHECK(mask->type().is_bool());
  MaskForm form;
  Axes axes;
  for (int axis = 0; axis < mask->type().rank(); ++axis) axes.push_back(axis);
  Decomposer(forms, form).take_all(mask, axes);
  return form;
}

}  // namespace enceladus::analysis
