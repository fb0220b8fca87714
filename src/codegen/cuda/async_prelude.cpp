#include "codegen/cuda/async_prelude.h"

#include <algorithm>

#include "codegen/cuda/prelude.h"

namespace enceladus::cuda {
namespace {

constexpr int kWords = 4;  // of A in registers, an instruction
constexpr int kRegistersALine = 8;
constexpr int64_t kMovesAStatement = 4;

std::string sum_register(const std::string& sums, int64_t number) {
  return "%%" + sums + "_" + std::to_string(number);
}

// `%%sums_0, %%sums_1, ...` in lines of an assembler's string.
std::string sum_registers(const std::string& sums, int64_t first, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    if (i) text += i % kRegistersALine == 0 ? ",\"\n      \" " : ", ";
    text += sum_register(sums, first + i);
  }
  return text;
}

std::string places(int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += (i ? ", %" : "%") + number(i);
  return text;
}

// Statements of few operands each, since the compiler's work grows with more than their number.
// `one`: what is done for a register, given its name and its operand's.
template <typename One>
std::string for_registers(const std::string& sums, DType sum, int64_t registers, bool is_in,
                          const One& one) {
  std::string text;
  for (int64_t first = 0; first < registers; first += kMovesAStatement) {
    std::string moves, operands;
    for (int64_t i = 0; i < std::min(kMovesAStatement, registers - first); ++i) {
      moves += (i ? " " : "") + one(sum_register(sums, first + i), "%" + number(i));
      operands += std::string(i ? ", \"" : "\"") + (is_in ? "" : "=") + constraint(sum) + "\"(d[" +
                  number(first + i) + "])";
    }
    text += "  asm volatile(\"" + moves + "\"\n               " + (is_in ? ":: " : ": ") +
            operands + ");\n";
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
  int64_t next = 0;
  bool is_integer = is_integer_input(form.input);
  bool is_wide = form.input == "f16" || form.input == "bf16";
  std::string shape = "m64n" + number(form.columns) + "k" + number(form.depth);
  std::string sum_type(assembler_type(form.sum));
  bool are_two = form.input.find('.') != std::string::npos;
  std::string types = are_two ? form.input : form.input + "." + form.input;
  std::string input = form.input;
  std::ranges::replace(input, '.', '_');
  std::string name = "enc_wgmma_" + shape + "_" + sum_type + "_" + input + "_" +
                     (form.a_in_registers ? "r"
                      : form.a_transposed ? "t"
                                          : "n") +
                     (form.b_transposed ? "t" : "n") + "_" + form.sums + "_" + number(form.first);
  std::string a, a_inputs;
  if (form.a_in_registers) {
    a = "{" + places(kWords) + "}";
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
  return {name, head + "__device__ __forceinline__ void " + name + "(" + a_parameter +
                    ", ulong b, int add) {\n  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, " +
                    add + ", 0;\\n\"\n      \"wgmma.mma_async.sync.aligned." + shape + "." +
                    sum_type + "." + types + " {" +
                    sum_registers(form.sums, form.first, form.columns / 2) + "}, \"\n      \"" + a +
                    ", " + b + ", " + flags + ";\\n}\"\n      :: " + a_inputs +
                    "\"l\"(b), \"r\"(add));\n}\n"};
}

AsyncText move_in_text(const std::string& sums, DType sum, int64_t registers) {
  std::string name = "enc_move_in_" + sums;
  return {name, "__device__ __forceinline__ void " + name + "(const " +
                    std::string(type_name(sum)) + "* d) {\n" +
                    for_registers(sums, sum, registers, true,
                                  [](const std::string& own, const std::string& operand) {
                                    return "mov.b32 " + own + ", " + operand + ";";
                                  }) +
                    "}\n"};
}

AsyncText move_out_text(const std::string& sums, DType sum, int64_t registers) {
  std::string name = "enc_move_out_" + sums;
  return {name, "__device__ __forceinline__ void " + name + "(" + std::string(type_name(sum)) +
                    "* d) {\n" +
                    for_registers(sums, sum, registers, false,
                                  [](const std::string& own, const std::string& operand) {
                                    return "mov.b32 " + operand + ", " + own + ";";
                                  }) +
                    "}\n"};
}

AsyncText clear_text(const std::string& sums, int64_t registers) {
  std::string name = "enc_clear_" + sums;
  std::string text = "__device__ __forceinline__ void " + name + "() {\n  asm volatile(\"";
  for (int64_t i = 0; i < registers; ++i)
    text += (i && i % kMovesAStatement == 0 ? "\"\n               \"" : "") +
            std::string("mov.b32 %") + sums + "_" + number(i) + ", 0; ";
  return {name, text + "\");\n}\n"};
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
