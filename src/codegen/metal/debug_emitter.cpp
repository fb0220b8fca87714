// Lines that a kernel prints, through os_log, and failed assertions, of which the first in a launch
// is kept in a buffer of its own.
#include "codegen/common/printf_text.h"
#include "codegen/metal/dialect.h"
#include "codegen/metal/emitter.h"
#include "ir/builder.h"

namespace enceladus::metal {

using ir::AttributeName;
using ir::Operation;
using ir::Value;

void Emitter::print(const Operation& op) {
  prelude_.set_logs();
  const Value* mask = op.operand(0);
  int64_t registers = registers_of(mask);
  Index r = open_registers(registers);
  std::string format = "pid (%d, %d, %d)";
  std::string arguments = "int(program.x), int(program.y), int(program.z)";
  if (op.operand_count() > 1) {
    format += " idx (";
    for (int i = 2; i < op.operand_count(); ++i) {
      format += i > 2 ? ", %d" : "%d";
      arguments += ", " + use(op.operand(i), r);
    }
    format += ")";
  }
  format += codegen::escaped_format(op.text(AttributeName::kText));
  if (op.operand_count() > 1) {
    DType dtype = op.operand(1)->type().dtype();
    std::string value = use(op.operand(1), r);
    const bool is_hex = op.integer_or(AttributeName::kHex, 0) != 0;
    if (is_float8(dtype) && !is_hex) {
      value = dialect_.from_float8(dtype, value);
      dtype = DType::kFloat32;
    }
    codegen::Printed printed =
        is_hex ? codegen::printed_hex(dtype, value) : codegen::printed_number(dtype, value);
    format += printed.conversion;
    arguments += ", " + printed.argument;
  }
  std::string guard = "if (" + use(mask, r) + ") ";
  out_.line(guard + "os_log_default.log(\"" + format + "\", " + arguments + ");");
  close_registers(registers);
}

void Emitter::assertion(const Operation& op) {
  messages_.emplace_back(op.text(AttributeName::kText));
  std::string fail = prelude_.use(Helper::kFail);
  const Value* condition = op.operand(0);
  int64_t registers = registers_of(condition);
  Index r = open_registers(registers);
  std::string failed = "!" + use(condition, r);
  if (op.operand(1)) failed += " && " + use(op.operand(1), r);
  out_.line("if (" + failed + ") " + fail + "(failure, " + std::to_string(messages_.size()) +
            ", program);");
  close_registers(registers);
}

}  // namespace enceladus::metal
