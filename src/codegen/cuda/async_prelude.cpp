#include "codegen/cuda/async_prelude.h"

#include <algorithm>

#include "codegen/cuda/prelude.h"

namespace enceladus::cuda {
namespace {

constexpr int kWords = 4;  // of A in registers, an instruction
constexpr int kRegistersALine = 16;

// `"+f"(d[0]), "+f"(d[1]), ...`
std::string in_and_out(DType dtype, int64_t registers) {
  std::string text;
  for (int64_t i = 0; i < registers; ++i) {
    if (i) text += i % kRegistersALine == 0 ? ",\n        " : ", ";
    text += std::string("\"+") + constraint(dtype) + "\"(d[" + number(i) + "])";
  }
  return text;
}

// `%0, %1, ...` in lines of an assembler's string.
std::string register_places(int64_t first, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    if (i) text += i % kRegistersALine == 0 ? ",\"\n      \" " : ", ";
    text += "%" + number(first + i);
  }
  return text;
}

std::string coordinates(int axes, int first) {
  std::string text = "{";
  for (int axis = 0; axis < axes; ++axis) text += (axis ? ", %" : "%") + number(first + axis);
  return text + "}";
}

std::string parameters(int axes) {
  std::string text;
  for (int axis = 0; axis < axes; ++axis) text += ", int x" + number(axis);
  return text;
}

std::string inputs(int axes) {
  std::string text;
  for (int axis = 0; axis < axes; ++axis) text += ", \"r\"(x" + number(axis) + ")";
  return text;
}

bool is_integer_input(const std::string& input) { return input == "s8" || input == "u8"; }

}  // namespace

AsyncText wgmma_text(const WgmmaForm& form) {
  int64_t registers = form.columns / 2, next = registers;
  std::string sum(type_name(form.sum));
  bool is_integer = is_integer_input(form.input),
       is_wide = form.input == "f16" || form.input == "bf16";
  std::string shape = "m64n" + number(form.columns) + "k" + number(form.depth);
  std::string sum_type = is_integer ? "s32" : "f32";
  bool are_two = form.input.find('.') != std::string::npos;
  std::string types = are_two ? form.input : form.input + "." + form.input;
  std::string input = form.input;
  std::ranges::replace(input, '.', '_');
  std::string name = "enc_wgmma_" + shape + "_" + sum_type + "_" + input + "_" +
                     (form.a_in_registers ? "r"
                      : form.a_transposed ? "t"
                                          : "n") +
                     (form.b_transposed ? "t" : "n");
  std::string a, a_inputs;
  if (form.a_in_registers) {
    a = "{" + register_places(next, kWords) + "}";
    for (int i = 0; i < kWords; ++i) a_inputs += "\"r\"(enc_word(a + " + number(2 * i) + ")), ";
    next += kWords;
  } else {
    a = "%" + number(next++);
    a_inputs = "\"l\"(a), ";
  }
  std::string b = "%" + number(next++), add = "%" + number(next);
  std::string flags = is_integer ? "p" : "p, 1, 1";
  if (is_wide) {
    if (!form.a_in_registers) flags += form.a_transposed ? ", 1" : ", 0";
    flags += form.b_transposed ? ", 1" : ", 0";
  }
  std::string a_parameter = form.a_in_registers ? "const T* a" : "ulong a";
  std::string head = form.a_in_registers ? "template <typename T>\n" : "";
  return {name, head + "__device__ inline void " + name + "(" + sum + "* d, " + a_parameter +
                    ", ulong b, int add) {\n  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, " +
                    add + ", 0;\\n\"\n      \"wgmma.mma_async.sync.aligned." + shape + "." +
                    sum_type + "." + types + " {" + register_places(0, registers) +
                    "}, \"\n      \"" + a + ", " + b + ", " + flags +
                    ";\\n}\"\n      : " + in_and_out(form.sum, registers) +
                    "\n      : " + a_inputs + "\"l\"(b), \"r\"(add));\n}\n"};
}

AsyncText keep_text(DType sum, int64_t registers) {
  std::string name = "enc_keep_" + number(registers), type(type_name(sum));
  return {name, "__device__ inline void " + name + "(" + type + "* d) {\n  asm volatile(\"\" : " +
                    in_and_out(sum, registers) + " :: \"memory\");\n}\n"};
}

AsyncText copy_in_text(int axes) {
  std::string name = "enc_copy_in_" + number(axes);
  return {name, "__device__ inline void " + name + "(const TensorMap* map, int to, int barrier" +
                    parameters(axes) + ") {\n  asm volatile(\"cp.async.bulk.tensor." +
                    number(axes) +
                    "d.shared::cluster.global.mbarrier::complete_tx::bytes \"\n"
                    "               \"[%0], [%1, " +
                    coordinates(axes, 3) +
                    "], [%2];\"\n               :: \"r\"(to), \"l\"(map), \"r\"(barrier)" +
                    inputs(axes) + " : \"memory\");\n}\n"};
}

AsyncText copy_out_text(int axes) {
  std::string name = "enc_copy_out_" + number(axes);
  return {name, "__device__ inline void " + name + "(const TensorMap* map, int from" +
                    parameters(axes) + ") {\n  asm volatile(\"cp.async.bulk.tensor." +
                    number(axes) + "d.global.shared::cta.bulk_group [%1, " + coordinates(axes, 2) +
                    "], [%0];\"\n               :: \"r\"(from), \"l\"(map)" + inputs(axes) +
                    " : \"memory\");\n  asm volatile(\"cp.async.bulk.commit_group;\" ::: "
                    "\"memory\");\n}\n"};
}

}  // namespace enceladus::cuda
