// Sum: a polynomial over scalar integer values, in unlimited precision: a constant plus products of
// values with whole coefficients. The normal form in which addresses, strides and loop bounds are
// compared. Not: a way to compute (whoever emits code multiplies and adds in 64 bits).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace enceladus::analysis {

inline constexpr int kMaxFactors = 3;
inline constexpr size_t kMaxTerms = 12;

// coefficient * factors[0] * factors[1] * ..., the factors in the order of their ids. A factor is
// taken at its own type: sign- or zero-extended to 64 bits.
struct Term {
  int64_t coefficient = 1;
  std::array<ir::Value*, kMaxFactors> factors{};
  int factor_count = 0;
  bool same_factors(const Term& other) const { return factors == other.factors; }
  bool operator==(const Term&) const = default;
};

class Sum {
 public:
  Sum() = default;
  explicit Sum(int64_t constant) : constant_(constant) {}
  explicit Sum(ir::Value* value);

  int64_t constant() const { return constant_; }
  const std::vector<Term>& terms() const { return terms_; }
  bool is_constant() const { return terms_.empty(); }
  bool is_zero() const { return is_constant() && constant_ == 0; }
  // The value where the sum is exactly one value.
  ir::Value* single_value() const;

  bool operator==(const Sum&) const = default;

 private:
  friend std::optional<Sum> add(const Sum& a, const Sum& b);
  friend std::optional<Sum> multiply(const Sum& a, const Sum& b);
  bool append(const Term& term);
  void sort();

  int64_t constant_ = 0;
  std::vector<Term> terms_;  // ordered, coefficients other than 0
};

// None where a coefficient leaves 64 bits or the sum grows beyond kMaxTerms or kMaxFactors.
std::optional<Sum> add(const Sum& a, const Sum& b);
std::optional<Sum> multiply(const Sum& a, const Sum& b);
std::optional<Sum> subtract(const Sum& a, const Sum& b);
std::optional<Sum> scaled(const Sum& a, int64_t factor);

// For messages and tests: `8 + 4*pid + stride*k`.
std::string to_string(const Sum& sum);

}  // namespace enceladus::analysis
