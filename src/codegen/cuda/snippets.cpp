#include "codegen/cuda/snippets.h"

namespace enceladus::cuda {
namespace {

constexpr std::string_view kHead = R"(typedef signed char schar;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

// The same bits as another type.
template <typename To, typename From>
__device__ inline To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From), "as_type");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

)";

constexpr Snippet kSnippets[] = {
    {"half", R"(struct half {
  ushort bits;
  half() = default;
  __device__ explicit half(float a) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(a)); }
  __device__ operator float() const {
    float a;
    asm("cvt.f32.f16 %0, %1;" : "=f"(a) : "h"(bits));
    return a;
  }
};
)"},
    {"bfloat", R"(struct bfloat {
  ushort bits;
  bfloat() = default;
  __device__ explicit bfloat(float a) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(a)); }
  __device__ operator float() const { return __uint_as_float(uint(bits) << 16); }
};
)"},
    {"exp2", R"(// Within 2 ulp; what is below the normal numbers is 0.
__device__ inline float enc_exp2(float a) {
  float b;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(a));
  return b;
}
)"},
    {"exp",
     R"(// Within 3 ulp; what is below the normal numbers is 0. What the power of two's argument lost by
// rounding is made good to first order; where the power is 0 or infinite nothing is.
__device__ inline float enc_exp(float a) {
  const float power = a * 1.44269502f;
  float b;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(power));
  const float lost = fmaf(power, 1.90465421e-9f, fmaf(power, -0.693147182f, a));
  return fabsf(power) < 128.0f ? fmaf(b, lost, b) : b;
}
)"},
    {"short_exp", R"(__device__ inline float enc_short_exp(float a) {
  float b;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(a * 1.44269502f));
  return b;
}
)"},
    {"tanh", R"(__device__ inline float enc_tanh(float a) {
  float b;
  asm("tanh.approx.f32 %0, %1;" : "=f"(b) : "f"(a));
  return b;
}
)"},
    {"sqrt", R"(// Within 1 ulp.
__device__ inline float enc_sqrt(float a) {
  float b;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(b) : "f"(a));
  return b;
}
)"},
    {"divide_full", R"(// Within 2 ulp over the full range.
__device__ inline float enc_divide_full(float a, float b) {
  float q;
  asm("div.full.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b));
  return q;
}
)"},
    {"reciprocal", R"(// Within 1 ulp for normal numbers; what is below them is 0.
__device__ inline float enc_reciprocal(float a) {
  float b;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(a));
  return b;
}
)"},
    {"min_nan", R"(__device__ inline float enc_min_nan(float a, float b) {
  return a != a ? a : b != b ? b : fminf(a, b);
}
__device__ inline double enc_min_nan(double a, double b) {
  return a != a ? a : b != b ? b : fmin(a, b);
}
)"},
    {"max_nan", R"(__device__ inline float enc_max_nan(float a, float b) {
  return a != a ? a : b != b ? b : fmaxf(a, b);
}
__device__ inline double enc_max_nan(double a, double b) {
  return a != a ? a : b != b ? b : fmax(a, b);
}
)"},
    {"half_toward_zero", R"(__device__ inline half enc_half_toward_zero(float a) {
  half b;
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(b.bits) : "f"(a));
  return b;
}
)"},
    {"bfloat_toward_zero", R"(__device__ inline bfloat enc_bfloat_toward_zero(float a) {
  bfloat b;
  asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(b.bits) : "f"(a));
  return b;
}
)"},
    {"half_pair", R"(__device__ inline void enc_half_pair(half* pair, float a, float b) {
  uint word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(b), "f"(a));
  memcpy(pair, &word, sizeof(word));
}
)"},
    {"bfloat_pair", R"(__device__ inline void enc_bfloat_pair(bfloat* pair, float a, float b) {
  uint word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(b), "f"(a));
  memcpy(pair, &word, sizeof(word));
}
)"},
    {"half_words", R"(__device__ inline void enc_half_words(float* pair, const half* halves) {
  uint word;
  memcpy(&word, halves, sizeof(word));
  asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\n"
      "cvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}"
      : "=f"(pair[0]), "=f"(pair[1]) : "r"(word));
}
)"},
    {"bfloat_words",
     R"(__device__ inline void enc_bfloat_words(float* pair, const bfloat* bfloats) {
  uint word;
  memcpy(&word, bfloats, sizeof(word));
  pair[0] = __uint_as_float(word << 16);
  pair[1] = __uint_as_float(word & 0xffff0000u);
}
)"},
    {"fail", R"(// Keeps the first failure of a launch: its number and its program.
__device__ inline void enc_fail(uint* messages, uint number, int x, int y, int z) {
  if (atomicCAS(messages, 0u, number) != 0u) return;
  messages[1] = uint(x);
  messages[2] = uint(y);
  messages[3] = uint(z);
}
)"},
    {"vector",
     R"(// N elements at once: a register array's, or those at an address aligned to their size.
template <int Bytes> struct Word;
template <> struct Word<1> { typedef uchar type; };
template <> struct Word<2> { typedef ushort type; };
template <> struct Word<4> { typedef uint type; };
template <> struct Word<8> { typedef uint2 type; };
template <> struct Word<16> { typedef uint4 type; };
)"},
    {"word", R"(// Neighbouring registers as one word.
template <typename T>
__device__ inline uint enc_word(const T* registers) {
  uint word;
  memcpy(&word, registers, sizeof(word));
  return word;
}
)"},
    {"matrix_load",
     R"(// 8x8 matrices of 16-bit elements; `row`: what this lane points to, in shared memory.
template <int Matrices, bool Transposed, typename T>
__device__ inline void enc_matrix_load(T* registers, const T* row) {
  const uint address = uint(__cvta_generic_to_shared(row));
  uint words[Matrices];
  if constexpr (Matrices == 4 && Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address) : "memory");
  else if constexpr (Matrices == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address) : "memory");
  else if constexpr (Matrices == 2 && Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1]) : "r"(address) : "memory");
  else if constexpr (Matrices == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1]) : "r"(address) : "memory");
  else if constexpr (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(words[0]) : "r"(address) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(words[0]) : "r"(address) : "memory");
  memcpy(registers, words, sizeof(words));
}
)"},
    {"copy_async",
     R"(// Starts a copy of N elements to shared memory; of zeros where the mask is false.
template <int N, typename T>
__device__ inline void enc_copy_async(T* to, const T* from, bool mask) {
  constexpr int bytes = N * sizeof(T);
  const uint address = uint(__cvta_generic_to_shared(to));
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 : : "r"(address), "l"(from), "r"(mask ? 16 : 0) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 : : "r"(address), "l"(from), "n"(bytes), "r"(mask ? bytes : 0) : "memory");
}
)"},
    {"tf32", R"(// Rounded to the 10 bits of fraction that the matrix units multiply.
__device__ inline uint enc_tf32(float a) {
  uint b;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b) : "f"(a));
  return b;
}
)"},
};

}  // namespace

std::span<const Snippet> snippets() { return kSnippets; }
std::string_view head_text() { return kHead; }

}  // namespace enceladus::cuda
