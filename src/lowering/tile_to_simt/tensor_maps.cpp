#include "lowering/tile_to_simt/tensor_maps.h"

#include <algorithm>

#include "ir/builder.h"
#include "lowering/tile_to_simt/refusal.h"
#include "support/check.h"

namespace enceladus::simt {
namespace {

using analysis::Sum;
using analysis::Term;
using ir::Opcode;
using ir::Operation;
using ir::Value;
using Step = LaunchStep;

constexpr int64_t kAlignment = 16;              // of addresses and strides, bytes
constexpr int64_t kEndless = int64_t{1} << 31;  // extent of an axis that the kernel indexes
constexpr size_t kMostAxes = 5;

class MapMatcher {
 public:
  MapMatcher(const Operation& access, analysis::AffineForms& forms, const analysis::Facts& facts)
      : access_(access), forms_(forms), facts_(facts) {}

  TensorMapPlan match() {
    const Operation* made = access_.operand(0)->definition();
    require(made && made->is(Opcode::kMakeDescriptor), "the descriptor is chosen at run time");
    const ir::Type& block = made->result()->type();
    require(block.rank() == 2, "the descriptor has not two axes");
    require(made->integer_or(ir::AttributeName::kPadding, 0) ==
                static_cast<int64_t>(ir::Padding::kZero),
            "the descriptor pads with NaN");
    bytes_ = byte_size(block.dtype());
    int first_offset = access_.is(Opcode::kDescriptorLoad) ? 1 : 2;
    for (int axis = 1; axis >= 0; --axis) {
      plan_.sizes.push_back(
          known(forms_.scalar(made->operand(1 + axis)), 1, "a size is not known at launch"));
      plan_.coordinates.push_back(access_.operand(first_offset + axis));
    }
    require_aligned(forms_.scalar(made->operand(3)), "a row's stride");
    plan_.strides.push_back(
        known(forms_.scalar(made->operand(3)), bytes_, "a stride is not known at launch"));
    base(made->operand(0));
    return std::move(plan_);
  }

 private:
  bool is_parameter(const Value* value) const {
    return value->argument_of() && value->argument_of()->parent() == nullptr &&
           value->type().is_integer();
  }

  bool is_known(const Term& term) const {
    return std::all_of(term.factors.begin(), term.factors.begin() + term.factor_count,
                       [&](const Value* factor) { return is_parameter(factor); });
  }

  void push(LaunchExpression& into, const Term& term, int64_t scale) const {
    into.push_back({Step::Kind::kConstant, term.coefficient * scale});
    for (int i = 0; i < term.factor_count; ++i) {
      into.push_back({Step::Kind::kParameter, term.factors[static_cast<size_t>(i)]->index()});
      into.push_back({Step::Kind::kMultiply, 0});
    }
  }

  // The sum times `scale` as an expression.
  LaunchExpression known(const Sum& sum, int64_t scale, const char* reason) const {
    LaunchExpression result = {{Step::Kind::kConstant, sum.constant() * scale}};
    for (const Term& term : sum.terms()) {
      require(is_known(term), reason);
      push(result, term, scale);
      result.push_back({Step::Kind::kAdd, 0});
    }
    return result;
  }

  bool is_aligned(const Term& term) const {
    int64_t divisor = analysis::power_of_two_divisor(term.coefficient) * bytes_;
    for (int i = 0; i < term.factor_count && divisor < kAlignment; ++i)
      divisor *= std::min(kAlignment, facts_.divisibility(term.factors[static_cast<size_t>(i)]));
    return divisor >= kAlignment;
  }

  void require_aligned(const Sum& sum, const std::string& what) const {
    bool aligned = sum.constant() * bytes_ % kAlignment == 0 &&
                   std::ranges::all_of(sum.terms(), [&](const Term& t) { return is_aligned(t); });
    if (!aligned) throw Refusal{what + " is not known to be a multiple of 16 bytes"};
  }

  void base(Value* pointer) {
    const analysis::Affine* form = forms_.of(pointer);
    require(form && form->pointer && form->pointer->argument_of() &&
                form->pointer->argument_of()->parent() == nullptr,
            "the array is not one parameter's");
    plan_.parameter = form->pointer->index();
    require(facts_.divisibility(form->pointer) >= kAlignment,
            "the array's address is not a multiple of 16 bytes");
    require_aligned(form->base, "the descriptor's base");
    plan_.address = {{Step::Kind::kParameter, plan_.parameter},
                     {Step::Kind::kConstant, form->base.constant() * bytes_},
                     {Step::Kind::kAdd, 0}};
    for (const Term& term : form->base.terms()) base_term(term);
    require(plan_.sizes.size() <= kMostAxes, "the base depends on too many numbers");
  }

  void base_term(Term term) {
    if (is_known(term)) {
      push(plan_.address, term, bytes_);
      plan_.address.push_back({Step::Kind::kAdd, 0});
      return;
    }
    const Value* index = nullptr;
    Term stride{.coefficient = term.coefficient};
    for (int i = 0; i < term.factor_count; ++i) {
      Value* factor = term.factors[static_cast<size_t>(i)];
      if (is_parameter(factor)) {
        stride.factors[static_cast<size_t>(stride.factor_count++)] = factor;
        continue;
      }
      require(index == nullptr, "the base has a product of two numbers known in the kernel only");
      index = factor;
    }
    if (!is_aligned(stride)) throw Refusal{"the base's step is not a multiple of 16 bytes"};
    add_axis(index, stride);
  }

  // Terms of one index are one axis.
  void add_axis(const Value* index, const Term& stride) {
    for (size_t axis = 2; axis < plan_.coordinates.size(); ++axis) {
      if (plan_.coordinates[axis] != index) continue;
      push(plan_.strides[axis - 1], stride, bytes_);
      plan_.strides[axis - 1].push_back({Step::Kind::kAdd, 0});
      return;
    }
    plan_.coordinates.push_back(index);
    plan_.sizes.push_back({{Step::Kind::kConstant, kEndless}});
    LaunchExpression bytes;
    push(bytes, stride, bytes_);
    plan_.strides.push_back(std::move(bytes));
  }

  const Operation& access_;
  analysis::AffineForms& forms_;
  const analysis::Facts& facts_;
  int64_t bytes_ = 1;
  TensorMapPlan plan_;
};

}  // namespace

TensorMapMatch match_tensor_map(const Operation& access, analysis::AffineForms& forms,
                                const analysis::Facts& facts) {
  try {
    return {MapMatcher(access, forms, facts).match(), {}};
  } catch (const Refusal& refusal) {
    return {std::nullopt, refusal.reason};
  }
}

void append_numbers(const LaunchExpression& expression, std::vector<int64_t>& numbers) {
  numbers.push_back(static_cast<int64_t>(expression.size()));
  for (const LaunchStep& step : expression) {
    numbers.push_back(static_cast<int64_t>(step.kind));
    numbers.push_back(step.value);
  }
}

LaunchExpression read_expression(std::span<const int64_t> numbers, size_t& at) {
  LaunchExpression expression;
  for (int64_t steps = numbers[at++]; steps > 0; --steps, at += 2)
    expression.push_back({static_cast<LaunchStep::Kind>(numbers[at]), numbers[at + 1]});
  return expression;
}

}  // namespace enceladus::simt
