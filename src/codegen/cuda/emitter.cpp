#include "codegen/cuda/emitter.h"

namespace enceladus::cuda {

using ir::Opcode;

// One instruction converts two neighbours: to a word of two narrow floats, and floats of 8 bits to
// float16. From narrow floats to float the compiler keeps words whole where they are asked for as
// such; else it takes loaded vectors to pieces.
bool Emitter::is_target_operation(const ir::Operation& op) const {
  if (op.is(Opcode::kFor) || op.is(Opcode::kIf)) return holds_sums(op);
  if (!op.is(Opcode::kCast) || registers_of(op.result()) == 1) return false;
  DType from = op.operand(0)->type().dtype(), to = op.result()->type().dtype();
  if (codegen::is_narrow_float(from) && to == DType::kFloat32) return is_array(op.operand(0));
  if (is_float8(from)) return to == DType::kFloat16 || to == DType::kFloat32;
  bool nearest = op.integer_or(ir::AttributeName::kRounding, 0) == 0;
  return nearest && from == DType::kFloat32 && (codegen::is_narrow_float(to) || is_float8(to));
}

void Emitter::widen_pairs(const ir::Operation& op) {
  const ir::Value* result = op.result();
  bool is_half = op.operand(0)->type().dtype() == DType::kFloat16;
  std::string function = prelude_.use(is_half ? "half_words" : "bfloat_words");
  declare(result);
  Index r = open_registers(registers_of(result), 2);
  out_.line(function + "(&" + use(result, r) + ", &" + use(op.operand(0), r) + ");");
  close_registers(registers_of(result), 2);
}

std::string Emitter::pair_conversion(DType from, DType to) {
  if (is_float8(from)) return prelude_.widen_float8_pair(from, to);
  if (is_float8(to)) return prelude_.narrow_float8_pair(to);
  return prelude_.use(to == DType::kFloat16 ? "half_pair" : "bfloat_pair");
}

void Emitter::convert_pairs(const ir::Operation& op) {
  const ir::Value* result = op.result();
  std::string function = pair_conversion(op.operand(0)->type().dtype(), result->type().dtype());
  declare(result);
  Index r = open_registers(registers_of(result), 2);
  out_.line(function + "(&" + use(result, r) + ", " + use(op.operand(0), r) + ", " +
            use(op.operand(0), r.plus(1)) + ");");
  close_registers(registers_of(result), 2);
}

// The device shuffles 32 and 64 bits; narrower values travel as their bits.
std::string Emitter::moved(const ir::Operation& op, const std::string& value) {
  DType dtype = op.result()->type().dtype();
  std::string type(dialect_.type_name(dtype));
  if (codegen::is_narrow_float(dtype))
    return "as_type<" + type + ">(ushort(" +
           between_lanes(op, "uint(as_type<ushort>(" + value + "))") + "))";
  if (byte_size(dtype) < 4) return type + "(" + between_lanes(op, "int(" + value + ")") + ")";
  return between_lanes(op, value);
}

std::string Emitter::print_call(const std::string& format, const std::string& arguments) {
  return "printf(\"" + format + "\\n\", " + arguments + ")";
}

std::string Emitter::failure_call(size_t number) {
  return prelude_.use("fail") + "(messages, " + std::to_string(number) + ", " + program_place() +
         ")";
}

void Emitter::target_operation(const ir::Operation& op) {
  switch (op.opcode()) {
    case Opcode::kFor:
    case Opcode::kIf:
      return control_around_sums(op);
    case Opcode::kCast:
      if (codegen::is_narrow_float(op.operand(0)->type().dtype())) return widen_pairs(op);
      return convert_pairs(op);
    case Opcode::kMatrixLoad:
      return matrix_load(op);
    case Opcode::kCopyAsync:
      return copy_async(op);
    case Opcode::kStageCommit:
      return out_.line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
    case Opcode::kStageWait:
      return out_.line("asm volatile(\"cp.async.wait_group " +
                       std::to_string(op.integer(ir::AttributeName::kPending)) +
                       ";\" ::: \"memory\");");
    default:
      if (!async_operation(op)) refuse(op);
  }
}

}  // namespace enceladus::cuda
