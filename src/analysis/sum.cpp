#include "analysis/sum.h"

#include <algorithm>

namespace enceladus::analysis {
namespace {

uint32_t id_or_last(const ir::Value* value) { return value ? value->id() : UINT32_MAX; }

bool ordered(const Term& a, const Term& b) {
  for (size_t i = 0; i < kMaxFactors; ++i)
    if (a.factors[i] != b.factors[i]) return id_or_last(a.factors[i]) < id_or_last(b.factors[i]);
  return false;
}

bool product(const Term& a, const Term& b, Term* result) {
  if (a.factor_count + b.factor_count > kMaxFactors) return false;
  if (__builtin_mul_overflow(a.coefficient, b.coefficient, &result->coefficient)) return false;
  std::merge(a.factors.begin(), a.factors.begin() + a.factor_count, b.factors.begin(),
             b.factors.begin() + b.factor_count, result->factors.begin(),
             [](const ir::Value* x, const ir::Value* y) { return x->id() < y->id(); });
  result->factor_count = a.factor_count + b.factor_count;
  return true;
}

}  // namespace

Sum::Sum(ir::Value* value) : terms_{Term{.factors = {value}, .factor_count = 1}} {}

ir::Value* Sum::single_value() const {
  bool single = constant_ == 0 && terms_.size() == 1 && terms_[0].coefficient == 1 &&
                terms_[0].factor_count == 1;
  return single ? terms_[0].factors[0] : nullptr;
}

// Adds a term without keeping the order; false on overflow.
bool Sum::append(const Term& term) {
  if (term.factor_count == 0)
    return !__builtin_add_overflow(constant_, term.coefficient, &constant_);
  for (Term& own : terms_)
    if (own.same_factors(term))
      return !__builtin_add_overflow(own.coefficient, term.coefficient, &own.coefficient);
  terms_.push_back(term);
  return terms_.size() <= kMaxTerms;
}

void Sum::sort() {
  std::erase_if(terms_, [](const Term& term) { return term.coefficient == 0; });
  std::sort(terms_.begin(), terms_.end(), ordered);
}

std::optional<Sum> add(const Sum& a, const Sum& b) {
  Sum result = a;
  if (!result.append(Term{.coefficient = b.constant_})) return std::nullopt;
  for (const Term& term : b.terms_)
    if (!result.append(term)) return std::nullopt;
  result.sort();
  return result;
}

std::optional<Sum> multiply(const Sum& a, const Sum& b) {
  if (a.is_zero() || b.is_zero()) return Sum();
  auto with_constant = [](const Sum& sum) {
    std::vector<Term> terms = sum.terms_;
    if (sum.constant_ != 0) terms.push_back(Term{.coefficient = sum.constant_});
    return terms;
  };
  Sum result;
  std::vector<Term> right = with_constant(b);
  for (const Term& x : with_constant(a)) {
    for (const Term& y : right) {
      Term term;
      if (!product(x, y, &term) || !result.append(term)) return std::nullopt;
    }
  }
  result.sort();
  return result;
}

std::optional<Sum> scaled(const Sum& a, int64_t factor) { return multiply(a, Sum(factor)); }

std::optional<Sum> subtract(const Sum& a, const Sum& b) {
  std::optional<Sum> negative = scaled(b, -1);
  return negative ? add(a, *negative) : std::nullopt;
}

std::string to_string(const Sum& sum) {
  std::string text;
  if (sum.constant() != 0 || sum.is_constant()) text = std::to_string(sum.constant());
  for (const Term& term : sum.terms()) {
    if (!text.empty()) text += " + ";
    if (term.coefficient != 1) text += std::to_string(term.coefficient) + "*";
    for (int i = 0; i < term.factor_count; ++i) {
      const ir::Value* factor = term.factors[static_cast<size_t>(i)];
      if (i > 0) text += "*";
      text += factor->name().empty() ? "%" + std::to_string(factor->id()) : factor->name();
    }
  }
  return text;
}

}  // namespace enceladus::analysis
