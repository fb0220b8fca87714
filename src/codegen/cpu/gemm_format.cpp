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

void choose_float(const HostTarget& host, ProductSize size, GemmFormat& format) {
  const bool bfloat16 = format.a_source == DType::kBFloat16 && format.b_source == DType::kBFloat16;
  format.product = Product::kFloat;
  format.a_operand = format.accumulator;
  format.is_fused = host.has_fma;
  if (format.accumulator == DType::kFloat64) return;
  ENC_CHECK(is_short_float(format.a_source) && is_short_float(format.b_source));
  const bool amx = host.has_amx_bfloat16 && size == ProductSize::kLarge;
  if (!bfloat16 || !(amx || host.has_avx512_bfloat16)) return;
  format.product = amx ? Product::kBFloat16Amx : Product::kBFloat16Pairs;
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

void choose_integer(const HostTarget& host, ProductSize size, GemmFormat& format) {
  ENC_CHECK(is_integer(format.a_source) && is_integer(format.b_source));
  const bool vnni = host.has_avx512_vnni || (host.has_avx_vnni && host.vector_bytes == 32);
  const bool bytes = is_byte(format.a_source) && is_byte(format.b_source);
  if (bytes && host.has_amx_int8 && size == ProductSize::kLarge) {
    format.product = Product::kInt8Amx;
    format.a_operand = format.a_source;
    format.group = 4;
    return;
  }
  if (vnni && bytes) return choose_quads(format);
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
    case Product::kBFloat16Amx:
    case Product::kInt8Amx:
      return false;
  }
  return false;
}

int ceil_divide(int value, int divisor) { return (value + divisor - 1) / divisor; }

// Two by two accumulator tiles leave two tiles for rows of A and two for columns of B, and every
// tile that is loaded is used twice. One by four where the rows fill one tile only.
RegisterBlock choose_amx_block(int rows, int columns) {
  const int height = std::min(rows, 2 * kAmxRows);
  const int most_wide = height > kAmxRows ? 2 : 4;
  const int wide = std::clamp(columns / kAmxLanes, 1, most_wide);
  return {.rows = height, .lower_rows = height, .vectors = wide};
}

}  // namespace

GemmFormat choose_format(const HostTarget& host, DType a, DType b, DType accumulator,
                         ProductSize size) {
  GemmFormat format{.product = Product::kFloat,
                    .a_source = a,
                    .b_source = b,
                    .a_operand = accumulator,
                    .accumulator = accumulator};
  format.lanes = host.lanes(byte_size(accumulator));
  if (is_float(accumulator)) {
    choose_float(host, size, format);
  } else {
    ENC_CHECK(accumulator == DType::kInt32);
    choose_integer(host, size, format);
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
  if (uses_amx()) text += "_amx";
  return text;
}

std::string instruction_of(const GemmFormat& format) {
  switch (format.product) {
    case Product::kFloat:
      return std::string(info(format.accumulator).python_name) + " multiply-adds";
    case Product::kInteger:
      return "int32 multiplications and additions";
    case Product::kInt16Pairs:
      return "pairs of int16 products";
    case Product::kBFloat16Pairs:
      return "vdpbf16ps";
    case Product::kInt8Quads:
      return "vpdpbusd";
    case Product::kBFloat16Amx:
      return "tdpbf16ps on AMX tiles";
    case Product::kInt8Amx:
      return "tdpbssd and its like on AMX tiles";
  }
  return "";
}

RegisterBlock choose_block(const HostTarget& host, const GemmFormat& format, int rows,
                           int columns) {
  if (format.uses_amx()) return choose_amx_block(rows, columns);
  const int vectors_wide = std::max(1, columns / format.lanes);
  const bool many_registers = host.vector_registers >= 32;
  // AVX-512 measured: 6x4 for all types, 8x2 and 8x1 for narrow tiles. NEON, a guess: the same.
  // AVX2 measured: 6x2. SSE, a guess: the same.
  const int vectors = std::min(vectors_wide, many_registers ? 4 : 2);
  int most_rows = vectors < (many_registers ? 4 : 2) ? 8 : 6;
  // A sixth row of multiplied int32 spills with 16 registers.
  if (format.product == Product::kInteger && !many_registers) most_rows = 5;
  const int blocks = ceil_divide(rows, most_rows);
  return {.rows = ceil_divide(rows, blocks), .lower_rows = rows / blocks, .vectors = vectors};
}

}  // namespace enceladus::cpu
