// Lines that a kernel prints and failed assertions, of which the first in a launch is kept in a
// buffer of its own.
#include "codegen/common/emitter.h"
#include "codegen/common/printf_text.h"

namespace enceladus::codegen {

using ir::AttributeName;
using ir::Operation;
using ir::Value;

std::string Emitter::program_place() const {
  std::string place;
  for (int64_t axis = 0; axis < 3; ++axis)
    place += (axis ? ", " : "") + dialect_.program_position(ir::Opcode::kProgramId, axis);
  return place;
}

void Emitter::print(const Operation& op) {
  const Value* mask = op.operand(0);
  int64_t registers = registers_of(mask);
  Index r = open_registers(registers);
  std::string format = "pid (%d, %d, %d)", arguments = program_place();
  if (op.operand_count() > 1) {
    format += " idx (";
    for (int i = 2; i < op.operand_count(); ++i) {
      format += i > 2 ? ", %d" : "%d";
      arguments += ", " + use(op.operand(i), r);
    }
    format += ")";
  }
  format += escaped_format(op.text(AttributeName::kText));
  if (op.operand_count() > 1) {
    DType dtype = op.operand(1)->type().dtype();
    std::string value = use(op.operand(1), r);
    bool is_hex = op.integer_or(AttributeName::kHex, 0) != 0;
    if (is_float8(dtype) && !is_hex) {
      value = dialect_.from_float8(dtype, value);
      dtype = DType::kFloat32;
    }
    Printed printed = is_hex ? printed_hex(dtype, value) : printed_number(dtype, value);
    format += printed.conversion;
    arguments += ", " + printed.argument;
  }
  out_.line("if (" + use(mask, r) + ") " + print_call(format, arguments) + ";");
  close_registers(registers);
}

void Emitter::assertion(const Operation& op) {
  messages_.emplace_back(op.text(AttributeName::kText));
  const Value* condition = op.operand(0);
  int64_t registers = registers_of(condition);
  Index r = open_registers(registers);
  std::string failed = "!" + use(condition, r);
  if (op.operand(1)) failed += " && " + use(op.operand(1), r);
  out_.line("if (" + failed + ") " + failure_call(messages_.size()) + ";");
  close_registers(registers);
}

}  // namespace enceladus::codegen
