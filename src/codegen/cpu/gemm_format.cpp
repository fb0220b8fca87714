#include "codegen/cpu/gemm_format.h"

#include <algorithm>

#include "support/check.h"

namespace enceladus::cpu {
namespace {

bool is_byte(DType dtype) { return dtype == DType::kInt8 || dtype == DType::kUInt8; }
bool fits_int16(DType dtype) { return is_byte(dtype) || dtype == DType::kInt16; }
bool is_short_float(DType dtype) {
  return is_float8(dtype) || dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
         dtype == DType::kFloat32;
}

void choose_float(const HostTarget& host, GemmFormat& format) {
  const bool bfloat16 = format.a_source == DType::kBFloat16 && format.b_source == DType::kBFloat16;
  format.product = Product::kFloat;
  format.a_operand = format.accumulator;
  format.is_fused = host.has_fma;
  if (format.accumulator == DType::kFloat64) return;
  ENC_CHECK(is_short_float(format.a_source) && is_short_float(format.b_source));
  if (!bfloat16 || !host.has_avx512_bfloat16) return;
  format.product = Product::kBFloat16Pairs;
  format.a_operand = DType::kBFloat16;
  format.group = 2;
}

void choose_quads(GemmFormat& format) {
  format.product = Product::kInt8Quads;
  format.group = 4;
  format.a_operand = format.a_source;
  format.a_is_unsigned = format.a_source == DType::kUInt8;
  if (format.a_is_unsigned == is_signed(format.b_source)) return;
  format.sign_fix = format.a_is_unsigned ? SignFix::kAddRowSums : SignFix::kSubtractRowSums;
}

void choose_integer(const HostTarget& host, GemmFormat& format) {
  ENC_CHECK(is_integer(format.a_source) && is_integer(format.b_source));
  const bool vnni = host.has_avx512_vnni || (host.has_avx_vnni && host.vector_bytes == 32);
  if (vnni && is_byte(format.a_source) && is_byte(format.b_source)) return choose_quads(format);
  if (host.architecture == Architecture::kX86 && fits_int16(format.a_source) &&
      fits_int16(format.b_source)) {
    format.product = Product::kInt16Pairs;
    format.a_operand = DType::kInt16;
    format.group = 2;
    return;
  }
  format.product = Product::kInteger;
  format.a_operand = DType::kInt32;
}

// Whether a product passes through a register of its own before it is added.
bool has_separate_sum(const GemmFormat& format) {
  switch (format.product) {
    case Product::kFloat:
      return !format.is_fused;
    case Product::kInteger:
    case Product::kInt16Pairs:
      return true;
    case Product::kBFloat16Pairs:
    case Product::kInt8Quads:
      return false;
  }
  return false;
}

}  // namespace

GemmFormat choose_format(const HostTarget& host, DType a, DType b, DType accumulator) {
  GemmFormat format{.product = Product::kFloat,
                    .a_source = a,
                    .b_source = b,
                    .a_operand = accumulator,
                    .accumulator = accumulator};
  format.lanes = host.lanes(byte_size(accumulator));
  if (is_float(accumulator)) {
    choose_float(host, format);
  } else {
    ENC_CHECK(accumulator == DType::kInt32);
    choose_integer(host, format);
  }
  // Where a sum passes through a register, more than one group a turn spills (int8 on Zen 3: 1.6 to
  // 1.8 times torch's float32 with one, 1.26 with four). With AVX2 one, two and four are equally
  // fast, so the smallest code is taken.
  const bool many_registers = host.vector_registers >= 32;
  if (has_separate_sum(format) || !many_registers) format.unroll = 1;
  return format;
}

std::string GemmFormat::name() const {
  std::string text(info(a_source).text_name);
  if (b_source != a_source) text += "x" + std::string(info(b_source).text_name);
  if (accumulator != a_source) text += "_" + std::string(info(accumulator).text_name);
  return text;
}

RegisterBlock choose_block(const HostTarget& host, const GemmFormat& format, int rows,
                           int columns) {
  const int vectors_wide = std::max(1, columns / format.lanes);
  const bool many_registers = host.vector_registers >= 32;
  // AVX-512 measured: 6x4 for all types, 8x2 and 8x1 for narrow tiles. NEON, a guess: the same.
  // AVX2 measured: 6x2. SSE, a guess: the same.
  const int vectors = std::min(vectors_wide, many_registers ? 4 : 2);
  int most_rows = vectors < (many_registers ? 4 : 2) ? 8 : 6;
  // A sixth row of multiplied int32 spills with 16 registers.
  if (format.product == Product::kInteger && !many_registers) most_rows = 5;
  const int blocks = (rows + most_rows - 1) / most_rows;
  return {.rows = (rows + blocks - 1) / blocks, .lower_rows = rows / blocks, .vectors = vectors};
}

}  // namespace enceladus::cpu
