#include "lowering/tile_to_loop/turn_forms.h"

#include <algorithm>

namespace enceladus::loop {
namespace {

using analysis::Affine;
using analysis::Sum;
using analysis::Term;
using ir::Opcode;
using ir::Value;

constexpr int kFirstCarried = 3;  // operands of a `for` before the initial values

std::optional<TurnSum> sum_of(const TurnSum& a, const TurnSum& b) {
  std::optional<Sum> first = add(a.first, b.first), advance = add(a.advance, b.advance);
  if (!first || !advance) return std::nullopt;
  return TurnSum{*first, *advance};
}

}  // namespace

bool TurnForms::is_invariant(const Value* value) const {
  const ir::Region* region =
      value->definition() ? value->definition()->parent() : value->argument_of();
  for (; region->parent() != nullptr; region = region->parent()->parent())
    if (region->parent() == loop_) return false;
  return true;
}

bool TurnForms::is_invariant(const Sum& sum) const {
  return std::ranges::all_of(sum.terms(), [&](const Term& term) {
    return std::all_of(term.factors.begin(), term.factors.begin() + term.factor_count,
                       [&](const Value* factor) { return is_invariant(factor); });
  });
}

int TurnForms::carried_index(const Value* value) const {
  return value->argument_of() == loop_->region(0) ? value->index() - 1 : -1;
}

Value* TurnForms::initial(int carried) const { return loop_->operand(kFirstCarried + carried); }

Value* TurnForms::yielded(int carried) const {
  return loop_->region(0)->terminator()->operand(carried);
}

// a + b, a - b or a * b of a narrow type.
std::optional<TurnSum> TurnForms::as_if_unlimited(const ir::Operation* op) const {
  if (!op->is(Opcode::kAdd) && !op->is(Opcode::kSub) && !op->is(Opcode::kMul)) return std::nullopt;
  const auto a = sum(forms_.scalar(op->operand(0)), Wrapping::kIgnored);
  const auto b = sum(forms_.scalar(op->operand(1)), Wrapping::kIgnored);
  if (!a || !b) return std::nullopt;
  if (op->is(Opcode::kAdd)) return sum_of(*a, *b);
  if (op->is(Opcode::kMul)) {
    const TurnSum& varying = a->advance.is_zero() ? *b : *a;
    const TurnSum& fixed = a->advance.is_zero() ? *a : *b;
    if (!fixed.advance.is_zero()) return std::nullopt;
    const auto first = multiply(varying.first, fixed.first);
    const auto advance = multiply(varying.advance, fixed.first);
    return first && advance ? std::optional(TurnSum{*first, *advance}) : std::nullopt;
  }
  const auto first = subtract(a->first, b->first), advance = subtract(a->advance, b->advance);
  return first && advance ? std::optional(TurnSum{*first, *advance}) : std::nullopt;
}

std::optional<TurnSum> TurnForms::factor(Value* value, Wrapping wrapping) const {
  if (is_invariant(value)) return TurnSum{Sum(value), Sum()};
  if (value == loop_->region(0)->argument(0))
    return TurnSum{forms_.scalar(loop_->operand(0)), forms_.scalar(loop_->operand(2))};
  const int carried = carried_index(value);
  if (carried < 0) {  // made in the loop: taken apart as far as that goes
    const Sum apart = forms_.scalar(value);
    if (apart.single_value() != value) return sum(apart, wrapping);
    return wrapping == Wrapping::kIgnored ? as_if_unlimited(value->definition()) : std::nullopt;
  }
  const std::optional<Sum> growth = subtract(forms_.scalar(yielded(carried)), Sum(value));
  if (!growth || !is_invariant(*growth)) return std::nullopt;
  return TurnSum{forms_.scalar(initial(carried)), *growth};
}

// The term's product without one of its factors.
std::optional<Sum> TurnForms::term_without(const Term& term, int factor) const {
  std::optional<Sum> product = Sum(term.coefficient);
  for (int i = 0; i < term.factor_count && product; ++i)
    if (i != factor) product = multiply(*product, Sum(term.factors[static_cast<size_t>(i)]));
  return product;
}

std::optional<TurnSum> TurnForms::sum(const Sum& sum) const {
  return this->sum(sum, Wrapping::kRespected);
}

// A limit that wraps turns masked-off elements on, 2^31 elements behind the first one: outside
// every array where arrays are small, so that no right program has one.
std::optional<TurnSum> TurnForms::limit(const Sum& limit) const {
  return sum(limit, arrays_are_small_ ? Wrapping::kIgnored : Wrapping::kRespected);
}

// Each term may hold one factor that changes with the turn.
std::optional<TurnSum> TurnForms::sum(const Sum& sum, Wrapping wrapping) const {
  TurnSum result{Sum(sum.constant()), Sum()};
  for (const Term& term : sum.terms()) {
    int varying = -1;
    for (int i = 0; i < term.factor_count; ++i) {
      if (is_invariant(term.factors[static_cast<size_t>(i)])) continue;
      if (varying >= 0) return std::nullopt;
      varying = i;
    }
    const std::optional<Sum> rest = term_without(term, varying);
    if (!rest) return std::nullopt;
    TurnSum part{*rest, Sum()};
    if (varying >= 0) {
      const auto inner = factor(term.factors[static_cast<size_t>(varying)], wrapping);
      if (!inner) return std::nullopt;
      const std::optional<Sum> first = multiply(*rest, inner->first);
      const std::optional<Sum> advance = multiply(*rest, inner->advance);
      if (!first || !advance) return std::nullopt;
      part = {*first, *advance};
    }
    const std::optional<TurnSum> total = sum_of(result, part);
    if (!total) return std::nullopt;
    result = *total;
  }
  return result;
}

// address + offset, an integer scalar or tile.
std::optional<TurnAddress> TurnForms::moved(TurnAddress address, Value* offset) const {
  const Affine* form = forms_.of(offset);
  if (!form || form->strides.size() != address.strides.size()) return std::nullopt;
  const std::optional<TurnSum> base = sum(form->base);
  const std::optional<TurnSum> total = base ? sum_of(address.offset, *base) : std::nullopt;
  if (!total) return std::nullopt;
  address.offset = *total;
  for (size_t axis = 0; axis < form->strides.size(); ++axis) {
    const std::optional<Sum> stride = add(address.strides[axis], form->strides[axis]);
    if (!stride || !is_invariant(*stride)) return std::nullopt;
    address.strides[axis] = *stride;
  }
  return address;
}

// A carried pointer that each turn moves by the same offset.
std::optional<TurnAddress> TurnForms::carried_address(Value* argument) const {
  const int carried = carried_index(argument);
  std::optional<TurnAddress> start = address(initial(carried));
  const ir::Operation* step = yielded(carried)->definition();
  if (!start || !start->offset.advance.is_zero()) return std::nullopt;
  if (step == nullptr || !step->is(Opcode::kAddPtr) || step->operand(0) != argument)
    return std::nullopt;
  const Affine* growth = forms_.of(step->operand(1));
  if (!growth || !growth->is_uniform() || !is_invariant(growth->base)) return std::nullopt;
  start->offset.advance = growth->base;
  return start;
}

std::optional<TurnAddress> TurnForms::address(Value* pointer) const {
  if (carried_index(pointer) >= 0) return carried_address(pointer);
  const ir::Operation* op = pointer->definition();
  if (op != nullptr && op->is(Opcode::kAddPtr)) {
    std::optional<TurnAddress> start = address(op->operand(0));
    return start ? moved(std::move(*start), op->operand(1)) : std::nullopt;
  }
  const bool repeats = op != nullptr && (op->is(Opcode::kSplat) || op->is(Opcode::kBroadcast) ||
                                         op->is(Opcode::kHint));
  if (repeats && !is_invariant(pointer)) {
    std::optional<TurnAddress> start = address(op->operand(0));
    if (start) start->strides.resize(static_cast<size_t>(pointer->type().rank()));
    return start;
  }
  const Affine* form = forms_.of(pointer);
  if (!form || form->pointer == nullptr || !is_invariant(form->pointer)) return std::nullopt;
  const std::optional<TurnSum> offset = sum(form->base);
  if (!offset || !std::ranges::all_of(form->strides, [&](const Sum& s) { return is_invariant(s); }))
    return std::nullopt;
  return TurnAddress{form->pointer, *offset, form->strides};
}

}  // namespace enceladus::loop
