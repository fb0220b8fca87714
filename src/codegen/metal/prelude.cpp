#include "codegen/metal/prelude.h"

#include "codegen/common/dialect.h"
#include "codegen/common/float8.h"
#include "codegen/metal/atomics_prelude.h"

namespace enceladus::metal {
namespace {

using codegen::integer_literal;
using codegen::type_name;

struct Snippet {
  std::string_view name;
  std::string_view text;
};

// By Helper. `enc_erf` is N. Juffa's minimax approximation, below 1 ulp.
constexpr Snippet kSnippets[] = {
    {"enc_div_rn",
     "// Correctly rounded: one residual step behind the quotient.\n"
     "inline float enc_div_rn(float a, float b) {\n"
     "  float q = a / b;\n"
     "  if (!isfinite(q) || q == 0.0f || !isfinite(b)) return q;\n"
     "  return fma(fma(-q, b, a), 1.0f / b, q);\n"
     "}\n"},
    {"enc_sqrt_rn",
     "// Correctly rounded: one residual step behind the root.\n"
     "inline float enc_sqrt_rn(float a) {\n"
     "  float s = precise::sqrt(a);\n"
     "  if (!isfinite(s) || s == 0.0f) return s;\n"
     "  return fma(fma(-s, s, a), 0.5f / s, s);\n"
     "}\n"},
    {"enc_erf",
     "// Error function, below 1 ulp.\n"
     "inline float enc_erf(float a) {\n"
     "  float t = fabs(a), s = a * a;\n"
     "  if (t > 0.927734375f) {\n"
     "    float u = fma(-3.88396438e-3f, t, 2.42546219e-2f);\n"
     "    float p = fma(fma(-1.72853470e-5f, t, 3.83197126e-4f), s, u);\n"
     "    p = fma(p, t, -1.06777877e-1f);\n"
     "    p = fma(p, t, -6.34846687e-1f);\n"
     "    p = fma(p, t, -1.28717512e-1f);\n"
     "    p = fma(p, t, -t);\n"
     "    return copysign(1.0f - precise::exp(p), a);\n"
     "  }\n"
     "  float p = fma(-5.96761703e-4f, s, 4.99119423e-3f);\n"
     "  p = fma(p, s, -2.67681349e-2f);\n"
     "  p = fma(p, s, 1.12819925e-1f);\n"
     "  p = fma(p, s, -3.76125336e-1f);\n"
     "  p = fma(p, s, 1.28379166e-1f);\n"
     "  return fma(p, a, a);\n"
     "}\n"},
    {"enc_min_nan",
     "inline float enc_min_nan(float a, float b) {\n"
     "  return isnan(a) ? a : isnan(b) ? b : fmin(a, b);\n"
     "}\n"},
    {"enc_max_nan",
     "inline float enc_max_nan(float a, float b) {\n"
     "  return isnan(a) ? a : isnan(b) ? b : fmax(a, b);\n"
     "}\n"},
    {"enc_half_rtz",
     "// Rounds toward zero: a step back where rounding to nearest went outward.\n"
     "inline half enc_half_rtz(float a) {\n"
     "  half h = half(a);\n"
     "  if (isnan(a) || isinf(a) || fabs(float(h)) <= fabs(a)) return h;\n"
     "  return as_type<half>(ushort(as_type<ushort>(h) - 1));\n"
     "}\n"},
    {"enc_bfloat_rtz",
     "// Rounds toward zero: the upper half of the bits; a NaN stays one.\n"
     "inline bfloat enc_bfloat_rtz(float a) {\n"
     "  if (isnan(a)) return bfloat(a);\n"
     "  return as_type<bfloat>(ushort(as_type<uint>(a) >> 16));\n"
     "}\n"},
    {"enc_fragment",
     "// An 8x8 fragment of this lane's two elements.\n"
     "template <typename T>\n"
     "inline simdgroup_matrix<T, 8, 8> enc_fragment(T first, T second) {\n"
     "  simdgroup_matrix<T, 8, 8> result;\n"
     "  result.thread_elements()[0] = first;\n"
     "  result.thread_elements()[1] = second;\n"
     "  return result;\n"
     "}\n"},
    {"enc_fail",
     "// Keeps the first failed assertion of the launch: its number and the program.\n"
     "inline void enc_fail(device atomic_uint* failure, uint number, uint3 program) {\n"
     "  uint seen = 0;\n"
     "  while (seen == 0)\n"
     "    if (atomic_compare_exchange_weak_explicit(failure, &seen, number, memory_order_relaxed,\n"
     "                                              memory_order_relaxed)) {\n"
     "      atomic_store_explicit(failure + 1, program.x, memory_order_relaxed);\n"
     "      atomic_store_explicit(failure + 2, program.y, memory_order_relaxed);\n"
     "      atomic_store_explicit(failure + 3, program.z, memory_order_relaxed);\n"
     "      return;\n"
     "    }\n"
     "}\n"},
};
static_assert(std::size(kSnippets) == static_cast<size_t>(Helper::kCount));

uint32_t bit(DType dtype) { return 1u << static_cast<int>(dtype); }

std::string divide_text(DType dtype) {
  std::string type(type_name(dtype));
  std::string wraps = is_signed(dtype) ? "b == -1 ? " + type + "(0 - u" + type + "(a)) : " : "";
  return "// a / 0 is 0.\ninline " + type + " enc_divide(" + type + " a, " + type +
         " b) {\n  return b == 0 ? " + type + "(0) : " + wraps + type + "(a / b);\n}\n";
}

std::string remainder_text(DType dtype) {
  std::string type(type_name(dtype));
  std::string wraps = is_signed(dtype) ? "b == -1 ? " + type + "(0) : " : "";
  return "// a % 0 is a.\ninline " + type + " enc_remainder(" + type + " a, " + type +
         " b) {\n  return b == 0 ? a : " + wraps + type + "(a % b);\n}\n";
}

std::string saturate_name(DType dtype) { return "enc_to_" + std::string(type_name(dtype)); }

std::string saturate_text(DType dtype) {
  std::string type(type_name(dtype));
  int width = bit_width(dtype);
  bool is_signed = enceladus::is_signed(dtype);
  int64_t low = is_signed ? static_cast<int64_t>(~uint64_t{0} << (width - 1)) : 0;
  uint64_t high = ~uint64_t{0} >> (64 - width + (is_signed ? 1 : 0));
  // The first float above the range: 2^(width - 1) or 2^width.
  std::string bound = "exp2(" + std::to_string(is_signed ? width - 1 : width) + ".0f)";
  std::string lower = is_signed ? "-" + bound : "0.0f";
  return "// Truncates; NaN gives 0, out of range the nearest end.\ninline " + type + " " +
         saturate_name(dtype) + "(float a) {\n  if (isnan(a)) return " + type +
         "(0);\n  if (a >= " + bound + ") return " +
         integer_literal(type, dtype, static_cast<int64_t>(high)) + ";\n  if (a <= " + lower +
         ") return " + integer_literal(type, dtype, low) + ";\n  return " + type + "(a);\n}\n";
}

std::string round_text(DType from) {
  std::string type(type_name(from));
  std::string magnitude = is_signed(from) ? "a < 0 ? ulong(0) - ulong(a) : ulong(a)" : "ulong(a)";
  std::string sign = is_signed(from) ? "a < 0 ? bfloat(-f) : bfloat(f)" : "bfloat(f)";
  return "// Rounds once: what float would drop is kept as one sticky bit.\n"
         "inline bfloat enc_round_to_bfloat(" +
         type + " a) {\n  ulong m = " + magnitude +
         ";\n  int drop = max(0, 40 - int(clz(m)));\n"
         "  ulong kept = m >> drop;\n  if ((kept << drop) != m) kept |= 1;\n"
         "  float f = ldexp(float(kept), drop);\n  return " +
         sign + ";\n}\n";
}

}  // namespace

std::string Prelude::use(Helper helper) {
  used_ |= 1u << static_cast<int>(helper);
  return std::string(kSnippets[static_cast<size_t>(helper)].name);
}

std::string Prelude::divide(DType dtype) {
  divides_ |= bit(dtype);
  return "enc_divide";
}

std::string Prelude::remainder(DType dtype) {
  remainders_ |= bit(dtype);
  return "enc_remainder";
}

std::string Prelude::saturate(DType dtype) {
  saturates_ |= bit(dtype);
  return saturate_name(dtype);
}

std::string Prelude::round_to_bfloat(DType from) {
  rounds_ |= bit(from);
  return "enc_round_to_bfloat";
}

std::string Prelude::widen_float8(DType from) {
  widens_ |= bit(from);
  return codegen::widen_float8_name(from);
}

std::string Prelude::narrow_float8(DType to, ir::Rounding rounding) {
  narrows_[static_cast<size_t>(rounding)] |= bit(to);
  return codegen::narrow_float8_name(to, rounding);
}

std::string Prelude::atomic(ir::AtomicKind kind, DType dtype) {
  atomics_[static_cast<size_t>(kind)] |= bit(dtype);
  return atomic_name(kind);
}

std::string Prelude::compare_and_swap(DType dtype) {
  swaps_ |= bit(dtype);
  return kCompareAndSwapName;
}

std::string Prelude::text() const {
  std::string text;
  for (size_t i = 0; i < std::size(kSnippets); ++i)
    if (used_ >> i & 1) text += std::string(kSnippets[i].text) + "\n";
  for (const DTypeInfo& info : kDTypes) {
    if (divides_ & bit(info.dtype)) text += divide_text(info.dtype) + "\n";
    if (remainders_ & bit(info.dtype)) text += remainder_text(info.dtype) + "\n";
    if (saturates_ & bit(info.dtype)) text += saturate_text(info.dtype) + "\n";
    if (rounds_ & bit(info.dtype)) text += round_text(info.dtype) + "\n";
    if (widens_ & bit(info.dtype))
      text += "inline float " + codegen::widen_float8_text(info.dtype) + "\n";
    for (ir::Rounding rounding : {ir::Rounding::kNearestEven, ir::Rounding::kTowardZero})
      if (narrows_[static_cast<size_t>(rounding)] & bit(info.dtype))
        text += "inline uchar " + codegen::narrow_float8_text(info.dtype, rounding) + "\n";
    for (size_t kind = 0; kind < atomics_.size(); ++kind)
      if (atomics_[kind] & bit(info.dtype))
        text += atomic_text(static_cast<ir::AtomicKind>(kind), info.dtype) + "\n";
    if (swaps_ & bit(info.dtype)) text += compare_and_swap_text(info.dtype) + "\n";
  }
  return text;
}

}  // namespace enceladus::metal
