#include "codegen/cuda/matrix_prelude.h"

#include "codegen/cuda/float8_prelude.h"
#include "codegen/cuda/prelude.h"
#include "codegen/cuda/target.h"
#include "support/check.h"

namespace enceladus::cuda {
namespace {

// What PTX calls an operand's type; float32 operands are multiplied as tf32.
std::string ptx_type(DType dtype, bool is_operand) {
  switch (dtype) {
    case DType::kFloat8E4M3:
      return "e4m3";
    case DType::kFloat8E5M2:
      return "e5m2";
    case DType::kFloat16:
      return "f16";
    case DType::kBFloat16:
      return "bf16";
    case DType::kFloat32:
      return is_operand ? "tf32" : "f32";
    case DType::kFloat64:
      return "f64";
    case DType::kInt8:
      return "s8";
    case DType::kUInt8:
      return "u8";
    case DType::kInt32:
      return "s32";
    default:
      ENC_CHECK(false, "no operand of a matrix instruction");
      return "";
  }
}

// How the assembler takes a register of a type.
class Writer {
 public:
  Writer(std::string_view instruction, DType a, DType b, DType accumulator)
      : instruction_(instruction), a_(a), b_(b), accumulator_(accumulator) {}

  MatrixText run() {
    const simt::MatrixInstruction& shape = *matrix_instruction(instruction_);
    std::string types = ptx_type(accumulator_, false) + "." + ptx_type(a_, true) + "." +
                        ptx_type(b_, true) + "." + ptx_type(accumulator_, false);
    std::string name =
        "enc_mma_" + instruction_ + "_" + ptx_type(a_, true) + "_" + ptx_type(b_, true);
    int sums = 1 << shape.accumulator.registers.size();
    std::string places = list(sums);
    // One after the other: the operands of `+` are evaluated in any order.
    std::string left = list(words(a_, shape.a));
    std::string right = list(words(b_, shape.b));
    std::string text = "mma.sync.aligned." + instruction_ + ".row.col." + types + " " + places +
                       ", " + left + ", " + right + ", " + places + ";";
    std::string outputs, inputs;
    for (int i = 0; i < sums; ++i)
      outputs += (i ? ", " : "") + operand(std::string("+") + constraint(accumulator_), "d", i);
    append(inputs, a_, shape.a, "a");
    append(inputs, b_, shape.b, "b");
    std::string accumulator(type_name(accumulator_));
    std::string body =
        "  asm(\"" + text + "\"\n      : " + outputs + "\n      : " + inputs + ");\n";
    if (is_float8(a_))
      body = "#if __CUDA_ARCH__ >= 890\n" + body + "#else\n" + float8_product_of_halves(a_, b_) +
             "#endif\n";
    return {name, "__device__ inline void " + name + "(" + accumulator + "* d, const " +
                      std::string(type_name(a_)) + "* a, const " + std::string(type_name(b_)) +
                      "* b) {\n" + body + "}\n"};
  }

 private:
  static int elements_of_word(DType dtype) {
    return byte_size(dtype) >= 4 ? 1 : 4 / byte_size(dtype);
  }
  static int words(DType dtype, const simt::Fragment& fragment) {
    return (1 << fragment.registers.size()) / elements_of_word(dtype);
  }

  // `{%0, %1}`, numbered on from one list to the next; the accumulator's is written twice.
  std::string list(int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + std::to_string(next_++);
    return text + "}";
  }

  static std::string operand(const std::string& constraint, const std::string& array, int index) {
    return "\"" + constraint + "\"(" + array + "[" + std::to_string(index) + "])";
  }

  static void append(std::string& inputs, DType dtype, const simt::Fragment& fragment,
                     const std::string& array) {
    int each = elements_of_word(dtype);
    for (int word = 0; word < words(dtype, fragment); ++word) {
      if (!inputs.empty()) inputs += ", ";
      std::string at = array + " + " + std::to_string(word * each);
      if (dtype == DType::kFloat32)
        inputs += "\"r\"(enc_tf32(" + array + "[" + std::to_string(word) + "]))";
      else if (each == 1)
        inputs += operand(std::string(1, constraint(dtype)), array, word);
      else
        inputs += "\"r\"(enc_word(" + at + "))";
    }
  }

  std::string instruction_;
  DType a_, b_, accumulator_;
  int next_ = 0;
};

}  // namespace

MatrixText matrix_text(std::string_view instruction, DType a, DType b, DType accumulator) {
  return Writer(instruction, a, b, accumulator).run();
}

}  // namespace enceladus::cuda
