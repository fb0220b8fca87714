#include "analysis/affine.h"

#include <algorithm>

#include "analysis/axis_rules.h"
#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::analysis {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

std::optional<Affine> combined(const Affine& a, const Affine& b, int64_t sign) {
  if (a.strides.size() != b.strides.size()) return std::nullopt;
  Affine result;
  result.pointer = a.pointer;
  auto sum = [&](const Sum& x, const Sum& y, Sum* out) {
    std::optional<Sum> value = sign < 0 ? subtract(x, y) : add(x, y);
    if (value) *out = std::move(*value);
    return value.has_value();
  };
  if (!sum(a.base, b.base, &result.base)) return std::nullopt;
  result.strides.resize(a.strides.size());
  for (size_t axis = 0; axis < a.strides.size(); ++axis)
    if (!sum(a.strides[axis], b.strides[axis], &result.strides[axis])) return std::nullopt;
  return result;
}

}  // namespace

Range range_of(const Sum& sum, const Facts& facts) {
  Range result = Range::of(sum.constant());
  for (const Term& term : sum.terms()) {
    Range product = Range::of(term.coefficient);
    for (int i = 0; i < term.factor_count; ++i)
      product = product * facts.range(term.factors[static_cast<size_t>(i)]);
    result = result + product;
  }
  return result;
}

bool Affine::is_uniform() const {
  return std::all_of(strides.begin(), strides.end(), [](const Sum& s) { return s.is_zero(); });
}

AffineForms::AffineForms(const ir::Function& function, Meaning meaning, const Facts* facts)
    : meaning_(meaning),
      facts_(facts),
      states_(function.value_count(), State::kUnknown),
      forms_(function.value_count()) {
  if (!facts_) facts_ = &own_facts_.emplace(function);
}

const Affine* AffineForms::of(Value* value) {
  size_t id = value->id();
  if (id >= states_.size()) {
    states_.resize(id + 1, State::kUnknown);
    forms_.resize(id + 1);
  }
  if (states_[id] == State::kUnknown) {
    std::optional<Affine> form = compute(value);
    states_[id] = form ? State::kSome : State::kNone;
    if (form) forms_[id] = std::move(*form);
  }
  return states_[id] == State::kSome ? &forms_[id] : nullptr;
}

Sum AffineForms::scalar(Value* value) {
  ENC_CHECK(value->type().rank() == 0 && value->type().is_integer());
  return of(value)->base;
}

std::optional<Affine> AffineForms::compute(Value* value) {
  const Type& type = value->type();
  if (!type.is_integer() && !type.is_pointer()) return std::nullopt;
  if (type.rank() == 0) return of_scalar(value);
  if (!value->definition()) return std::nullopt;
  std::optional<Affine> form = of_operation(value->definition(), value);
  if (form && meaning_ == Meaning::kWrapping && !fits(*form, type)) return std::nullopt;
  return form;
}

// A scalar always has a form: itself at worst.
std::optional<Affine> AffineForms::of_scalar(Value* value) {
  Affine whole;
  if (value->type().is_pointer()) {
    whole.pointer = value;
  } else {
    std::optional<int64_t> constant = ir::constant_integer(value);
    whole.base = constant ? Sum(*constant) : Sum(value);
    if (constant) return whole;
  }
  if (meaning_ == Meaning::kWrapping || !value->definition()) return whole;
  std::optional<Affine> form = of_operation(value->definition(), value);
  return form ? form : whole;
}

std::optional<Affine> AffineForms::of_operation(Operation* op, Value* value) {
  const Type& type = value->type();
  if (!may_take_apart(*op)) return std::nullopt;
  switch (op->opcode()) {
    case Opcode::kConstant: {
      Affine form;
      form.base = Sum(*ir::constant_integer(value));
      form.strides.resize(static_cast<size_t>(type.rank()));
      return form;
    }
    case Opcode::kArange: {
      Affine form;
      form.base = Sum(op->integer(AttributeName::kStart));
      form.strides = {Sum(type.elements() > 1 ? 1 : 0)};
      return form;
    }
    case Opcode::kAdd:
      return of_sum(op, 1);
    case Opcode::kSub:
      return of_sum(op, -1);
    case Opcode::kNeg: {
      Affine minus_one;
      minus_one.base = Sum(-1);
      minus_one.strides.resize(static_cast<size_t>(type.rank()));
      return of_product(of(op->operand(0)), &minus_one);
    }
    case Opcode::kMul:
      return of_product(of(op->operand(0)), of(op->operand(1)));
    case Opcode::kShl:
      return of_shift(op);
    case Opcode::kAddPtr:
      return of_addptr(op);
    case Opcode::kCast:
      return of_cast(op);
    case Opcode::kHint: {
      const Affine* form = of(op->operand(0));
      return form ? std::optional(*form) : std::nullopt;
    }
    case Opcode::kSplat: {
      Affine form = *of(op->operand(0));
      form.strides.assign(static_cast<size_t>(type.rank()), Sum());
      return form;
    }
    case Opcode::kBroadcast:
    case Opcode::kExpandDims:
    case Opcode::kTranspose:
      return of_broadcast(op);
    case Opcode::kReshape:
      return of_reshape(op);
    default:
      return std::nullopt;
  }
}

// Wrapping forms are checked as a whole (fits); 64 bits hold every address.
bool AffineForms::may_take_apart(const Operation& op) const {
  const Type& type = op.result()->type();
  if (meaning_ == Meaning::kWrapping || type.is_pointer()) return true;
  return bit_width(type.dtype()) == 64 || !may_wrap(op, *facts_);
}

std::optional<Affine> AffineForms::of_sum(Operation* op, int64_t sign) {
  const Affine* a = of(op->operand(0));
  const Affine* b = of(op->operand(1));
  if (!a || !b) return std::nullopt;
  return combined(*a, *b, sign);
}

// One of the two must be the same for all elements.
std::optional<Affine> AffineForms::of_product(const Affine* a, const Affine* b) {
  if (!a || !b) return std::nullopt;
  if (!b->is_uniform()) std::swap(a, b);
  if (!b->is_uniform() || a->strides.size() != b->strides.size()) return std::nullopt;
  Affine result;
  std::optional<Sum> base = multiply(a->base, b->base);
  if (!base) return std::nullopt;
  result.base = std::move(*base);
  for (const Sum& stride : a->strides) {
    std::optional<Sum> scaled = multiply(stride, b->base);
    if (!scaled) return std::nullopt;
    result.strides.push_back(std::move(*scaled));
  }
  return result;
}

std::optional<Affine> AffineForms::of_shift(Operation* op) {
  const Affine* amount = of(op->operand(1));
  if (!amount || !amount->is_uniform() || !amount->base.is_constant()) return std::nullopt;
  int64_t bits = amount->base.constant();
  if (bits < 0 || bits >= bit_width(op->result()->type().dtype()) || bits > 61) return std::nullopt;
  Affine factor;
  factor.base = Sum(int64_t{1} << bits);
  factor.strides.resize(amount->strides.size());
  return of_product(of(op->operand(0)), &factor);
}

// A conversion that keeps every value of its source is nothing to an exact form. Others start
// anew: a scalar stands for itself, a tile has no form.
std::optional<Affine> AffineForms::of_cast(Operation* op) {
  const Type& from = op->operand(0)->type();
  DType to = op->result()->type().dtype();
  if (!from.is_integer() || from.is_bool() || is_bool(to)) return std::nullopt;
  bool keeps = is_signed(to) ? bit_width(to) > bit_width(from.dtype()) || (to == from.dtype())
                             : !is_signed(from.dtype()) && bit_width(to) >= bit_width(from.dtype());
  if (!keeps) {
    Range range = facts_->range(op->operand(0));
    keeps = from.dtype() != DType::kUInt64 && Range::of_dtype(to).contains(range) &&
            (is_signed(to) || range.low >= 0);
  }
  const Affine* form = keeps ? of(op->operand(0)) : nullptr;
  return form ? std::optional(*form) : std::nullopt;
}

std::optional<Affine> AffineForms::of_addptr(Operation* op) {
  const Affine* pointer = of(op->operand(0));
  const Affine* offset = of(op->operand(1));
  if (!pointer || !offset) return std::nullopt;
  return combined(*pointer, *offset, 1);
}

// Axes move, and those of extent 1 come and go or are repeated: none of them has a stride.
std::optional<Affine> AffineForms::of_broadcast(Operation* op) {
  const Affine* source = of(op->operand(0));
  if (!source) return std::nullopt;
  Affine form = *source;
  if (op->is(Opcode::kExpandDims))
    form.strides.insert(form.strides.begin() + op->integer(AttributeName::kAxis), Sum());
  if (op->is(Opcode::kTranspose)) {
    std::span<const int64_t> permutation = op->integers(AttributeName::kPermutation);
    for (size_t axis = 0; axis < permutation.size(); ++axis)
      form.strides[axis] = source->strides[static_cast<size_t>(permutation[axis])];
  }
  return form;
}

// An axis may be split into several; axes of extent 1 come and go.
std::optional<Affine> AffineForms::of_reshape(Operation* op) {
  const Affine* source = of(op->operand(0));
  if (!source) return std::nullopt;
  const Type& from = op->operand(0)->type();
  const Type& to = op->result()->type();
  Affine form = *source;
  form.strides.assign(static_cast<size_t>(to.rank()), Sum());
  if (source->is_uniform()) return form;
  int axis = to.rank() - 1;
  for (int old = from.rank() - 1; old >= 0; --old) {
    int64_t remaining = from.extent(old);
    int64_t step = 1;
    while (remaining > 1) {
      while (axis >= 0 && to.extent(axis) == 1) --axis;
      if (axis < 0 || to.extent(axis) > remaining) return std::nullopt;
      std::optional<Sum> stride = scaled(source->strides[static_cast<size_t>(old)], step);
      if (!stride) return std::nullopt;
      form.strides[static_cast<size_t>(axis)] = std::move(*stride);
      step *= to.extent(axis);
      remaining /= to.extent(axis--);
    }
  }
  return form;
}

// Whether no element leaves the type's range, so that the exact form is the value.
bool AffineForms::fits(const Affine& form, const Type& type) const {
  if (!type.is_integer()) return false;
  Range everything = Range::of_dtype(type.dtype());
  if (type.dtype() == DType::kUInt64) everything.low = 0;
  Range lanes = Range::of(0);
  for (int axis = 0; axis < type.rank(); ++axis)
    lanes = lanes + range_of(form.strides[static_cast<size_t>(axis)], *facts_) *
                        Range{0, type.extent(axis) - 1};
  Range all = range_of(form.base, *facts_) + lanes;
  bool saturated = all.low == Range().low || all.high == Range().high;
  if (!saturated && everything.contains(all)) return true;
  // A multiple of a power of two leaves room for the smaller numbers added to it.
  std::optional<Sum> rest = subtract(form.base, Sum(form.base.constant()));
  Value* value = rest ? rest->single_value() : nullptr;
  if (!value || value->type().dtype() != type.dtype()) return false;
  Range added = lanes + Range::of(form.base.constant());
  return added.low >= 0 && added.high < facts_->divisibility(value);
}

}  // namespace enceladus::analysis
