// Lines that a kernel prints, through os_log, and failed assertions, of which the first in a launch
// is kept in a buffer of its own.
#include "codegen/metal/dialect.h"
#include "codegen/metal/emitter.h"
#include "ir/builder.h"

namespace enceladus::metal {

using ir::AttributeName;
using ir::Operation;
using ir::Value;

namespace {

// A conversion of printf and the argument it takes.
struct Printed {
  std::string conversion, argument;
};

Printed as_hex(DType dtype, const std::string& value) {
  int bytes = byte_size(dtype);
  std::string digits = "0x%0" + std::to_string(2 * bytes);
  if (bytes == 8) return {digits + "lx", "as_type<ulong>(" + value + ")"};
  if (bytes == 4) return {digits + "x", "as_type<uint>(" + value + ")"};
  if (is_bool(dtype)) return {digits + "x", "uint(" + value + ")"};
  return {digits + "x",
          std::string("uint(as_type<") + (bytes == 2 ? "ushort" : "uchar") + ">(" + value + "))"};
}

Printed as_number(DType dtype, const std::string& value) {
  if (is_float(dtype)) return {"%f", "float(" + value + ")"};
  if (dtype == DType::kInt64) return {"%ld", value};
  if (dtype == DType::kUInt64) return {"%lu", value};
  if (is_signed(dtype) || is_bool(dtype)) return {"%d", "int(" + value + ")"};
  return {"%u", "uint(" + value + ")"};
}

// The text within a format string within a string literal.
std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '%')
      result += "%%";
    else if (c == '\n')
      result += "\\n";
    else if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result;
}

}  // namespace

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
  format += escaped(op.text(AttributeName::kText));
  if (op.operand_count() > 1) {
    DType dtype = op.operand(1)->type().dtype();
    std::string value = use(op.operand(1), r);
    Printed printed =
        op.integer_or(AttributeName::kHex, 0) ? as_hex(dtype, value) : as_number(dtype, value);
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
