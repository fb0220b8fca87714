#include "codegen/metal/emitter.h"

namespace enceladus::metal {

using ir::Opcode;

// SIMD functions know neither 64-bit integers nor bfloat: these travel as two halves or as their
// bits.
std::string Emitter::moved(const ir::Operation& op, const std::string& value) {
  DType dtype = op.result()->type().dtype();
  if (byte_size(dtype) == 8) {
    std::string halves = names_.unique("halves");
    out_.line("const uint2 " + halves + " = as_type<uint2>(" + value + ");");
    return "as_type<" + std::string(dialect_.type_name(dtype)) + ">(uint2(" +
           between_lanes(op, halves + ".x") + ", " + between_lanes(op, halves + ".y") + "))";
  }
  if (dtype == DType::kBFloat16)
    return "as_type<bfloat>(" + between_lanes(op, "as_type<ushort>(" + value + ")") + ")";
  return between_lanes(op, value);
}

std::string Emitter::print_call(const std::string& format, const std::string& arguments) {
  prelude_.set_logs();
  return "os_log_default.log(\"" + format + "\", " + arguments + ")";
}

std::string Emitter::failure_call(size_t number) {
  return prelude_.use(Helper::kFail) + "(failure, " + std::to_string(number) + ", program)";
}

void Emitter::target_operation(const ir::Operation& op) {
  switch (op.opcode()) {
    case Opcode::kCooperative:
      return cooperative(op);
    case Opcode::kCooperativeMultiply:
      return cooperative_multiply(op);
    case Opcode::kCooperativePart:
      return cooperative_part(op);
    default:
      refuse(op);
  }
}

}  // namespace enceladus::metal
