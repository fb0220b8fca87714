// Products by Metal Performance Primitives: tensors over the arrays, one `matmul2d` of all the
// program's SIMD groups, its accumulator a cooperative tensor.
#include "codegen/metal/emitter.h"

namespace enceladus::metal {

using ir::AttributeName;
using ir::Operation;
using ir::Value;

void Emitter::cooperative(const Operation& op) {
  prelude_.set_matmul2d();
  std::span<const int64_t> matrix = op.integers(AttributeName::kMatrix);
  const std::string& sum = name_of(op.result());
  Product product{names_.unique("multiply"), names_.unique("left"), names_.unique("right")};
  auto tensor = [&](const std::string& name, int operand, int numbers) {
    const Value* pointer = op.operand(operand);
    std::string element = "device " + std::string(dialect_.type_name(pointer->type().dtype()));
    auto number = [&](int i) { return use(op.operand(numbers + i)); };
    out_.line("tensor<" + element + ", dextents<int32_t, 2>, tensor_inline> " + name + "((" +
              element + "*)" + use(pointer) + ", dextents<int32_t, 2>(" + number(0) + ", " +
              number(1) + "), array<int32_t, 2>{{1, " + number(2) + "}});");
  };
  tensor(product.left, 0, 2);
  tensor(product.right, 1, 5);
  std::string shape = names_.unique("shape"), space = "mpp::tensor_ops::";
  auto flag = [&](size_t i) { return std::string(matrix[i] ? "true" : "false"); };
  out_.line("constexpr auto " + shape + " = " + space + "matmul2d_descriptor(" +
            std::to_string(matrix[0]) + ", " + std::to_string(matrix[1]) + ", " +
            std::to_string(matrix[2]) + ", " + flag(3) + ", " + flag(4) + ", false, " + space +
            "matmul2d_descriptor::mode::multiply_accumulate);");
  out_.line(space + "matmul2d<" + shape + ", execution_simdgroups<" +
            std::to_string(function_.options().num_warps) + ">> " + product.multiply + ";");
  std::string type(dialect_.type_name(op.result()->type().dtype()));
  out_.line("auto " + sum + " = " + product.multiply +
            ".get_destination_cooperative_tensor<decltype(" + product.left +
            ".slice(0, 0)), decltype(" + product.right + ".slice(0, 0)), " + type + ">();");
  out_.line("for (ushort i = 0; i < " + sum + ".get_capacity(); ++i) " + sum + "[i] = 0;");
  products_[op.result()] = std::move(product);
}

void Emitter::cooperative_multiply(const Operation& op) {
  const Value* sum = op.operand(2);
  const Product& product = products_.at(sum);
  auto slice = [&](const std::string& tensor, int offsets) {
    return tensor + ".slice(" + use(op.operand(offsets)) + ", " + use(op.operand(offsets + 1)) +
           ")";
  };
  out_.open("");
  out_.line("auto left_block = " + slice(product.left, 3) + ";");
  out_.line("auto right_block = " + slice(product.right, 5) + ";");
  out_.line(product.multiply + ".run(left_block, right_block, " + use(sum) + ");");
  out_.close();
}

void Emitter::cooperative_part(const Operation& op) {
  std::string sum = use(op.operand(0));
  std::string index = op.operand(1) ? "ushort(" + use(op.operand(1)) + ")" : "";
  std::string_view part = op.text(AttributeName::kPart);
  std::string value;
  if (part == "capacity") value = "int(" + sum + ".get_capacity())";
  if (part == "valid") value = sum + ".is_valid_element(" + index + ")";
  if (part == "value") value = sum + "[" + index + "]";
  if (part == "row") value = "int(" + sum + ".get_multidimensional_index(" + index + ")[1])";
  if (part == "column") value = "int(" + sum + ".get_multidimensional_index(" + index + ")[0])";
  out_.line("const " + declaration(op.result(), name_of(op.result())) + " = " + value + ";");
}

}  // namespace enceladus::metal
