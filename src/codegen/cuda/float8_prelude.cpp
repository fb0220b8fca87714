#include "codegen/cuda/float8_prelude.h"

#include "codegen/common/float8.h"
#include "codegen/cuda/prelude.h"

namespace enceladus::cuda {
namespace {

using ir::Rounding;

std::string element_of(DType dtype) { return dtype == DType::kFloat8E4M3 ? "e4m3" : "e5m2"; }

// `here` where the device has the instructions, else `otherwise`; whole lines.
std::string by_device(const std::string& here, const std::string& otherwise) {
  return "#if __CUDA_ARCH__ >= 890\n" + here + "#else\n" + otherwise + "#endif\n";
}

// Two floats of 8 bits, in a ushort, as two words of a float16.
std::string to_halves(DType from, const std::string& pair) {
  return "  uint halves;\n  asm(\"cvt.rn.f16x2." + element_of(from) +
         "x2 %0, %1;\" : \"=r\"(halves) : \"h\"(" + pair + "));\n";
}

std::string to_pair(DType to, const std::string& upper, const std::string& lower) {
  return "  ushort pair;\n  asm(\"cvt.rn.satfinite." + element_of(to) +
         "x2.f32 %0, %1, %2;\" : \"=h\"(pair) : \"f\"(" + upper + "), \"f\"(" + lower + "));\n";
}

}  // namespace

AsyncText widen_float8_function(DType from) {
  std::string name = codegen::widen_float8_name(from);
  std::string here = to_halves(from, "ushort(a)") +
                     "  float f;\n  asm(\"{.reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, "
                     "l;}\" : \"=f\"(f) : \"r\"(halves));\n  return f;\n";
  return {name, "__device__ inline float " + name + "(uchar a) {\n" +
                    by_device(here, codegen::widen_float8_body(from)) + "}\n"};
}

AsyncText narrow_float8_function(DType to, Rounding rounding) {
  std::string name = codegen::narrow_float8_name(to, rounding);
  std::string bits = codegen::narrow_float8_body(to, rounding);
  // The instruction only rounds to nearest.
  std::string body = rounding == Rounding::kTowardZero
                         ? bits
                         : by_device(to_pair(to, "0.0f", "a") + "  return uchar(pair);\n", bits);
  return {name, "__device__ inline uchar " + name + "(float a) {\n" + body + "}\n"};
}

AsyncText widen_float8_pair_function(DType from, DType to) {
  std::string type(type_name(to));
  std::string one = codegen::widen_float8_name(from), name = one + "_pair";
  std::string here = to_halves(from, "ushort(a | b << 8)");
  if (to == DType::kFloat16)
    here += "  memcpy(to, &halves, sizeof(halves));\n";
  else
    here +=
        "  asm(\"{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}\"\n"
        "      : \"=f\"(to[0]), \"=f\"(to[1]) : \"r\"(halves));\n";
  std::string otherwise =
      "  to[0] = " + type + "(" + one + "(a)), to[1] = " + type + "(" + one + "(b));\n";
  return {name, "__device__ inline void " + name + "(" + type + "* to, uchar a, uchar b) {\n" +
                    by_device(here, otherwise) + "}\n"};
}

AsyncText narrow_float8_pair_function(DType to) {
  std::string one = codegen::narrow_float8_name(to, Rounding::kNearestEven), name = one + "_pair";
  std::string here = to_pair(to, "b", "a") + "  memcpy(to, &pair, sizeof(pair));\n";
  std::string otherwise = "  to[0] = " + one + "(a), to[1] = " + one + "(b);\n";
  return {name, "__device__ inline void " + name + "(uchar* to, float a, float b) {\n" +
                    by_device(here, otherwise) + "}\n"};
}

std::string float8_product_of_halves(DType a, DType b) {
  auto widened = [](const std::string& array, DType dtype, const std::string& from, int count) {
    std::string pair = widen_float8_pair_function(dtype, DType::kFloat16).name;
    return "  half " + array + "[" + std::to_string(count) + "];\n  for (int i = 0; i < " +
           std::to_string(count) + "; i += 2) " + pair + "(" + array + " + i, " + from + "[i], " +
           from + "[i + 1]);\n";
  };
  std::string text = widened("x", a, "a", 16) + widened("y", b, "b", 8);
  auto word = [](const std::string& array, int at) {
    return "\"r\"(enc_word(" + array + " + " + std::to_string(at) + "))";
  };
  for (int half = 0; half < 2; ++half) {
    text +=
        "  asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n      : ";
    for (int i = 0; i < 4; ++i)
      text += (i ? ", " : "") + std::string("\"+f\"(d[") + std::to_string(i) + "])";
    text += "\n      : ";
    for (int at : {0, 4, 2, 6}) text += word("x", 8 * half + at) + ", ";
    text += word("y", 4 * half) + ", " + word("y", 4 * half + 2) + ");\n";
  }
  return text;
}

}  // namespace enceladus::cuda
