// Loops and branches. A loop's variables, its region's arguments and its results are one variable.
#include <algorithm>

#include "codegen/common/emitter.h"
#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::codegen {

using ir::Opcode;
using ir::Operation;
using ir::Value;

void Emitter::alias(const Value* value, const Value* as) { set_name(value, name_of(as)); }

void Emitter::assign_one(const std::string& target, const Value* value) {
  if (value->type().rank() == 0) return out_.line(target + " = " + use(value) + ";");
  int64_t registers = registers_of(value);
  Index index = open_registers(registers);
  out_.line(target + (registers > 1 ? "[r]" : "") + " = " + use(value, index) + ";");
  close_registers(registers);
}

// Whether the value, written out, reads one of the variables.
bool Emitter::depends_on(const Value* value, std::span<Value* const> variables) const {
  if (std::ranges::find(variables, value) != variables.end()) return true;
  const Operation* op = value->definition();
  if (!op || !is_inline(*op)) return false;
  return std::ranges::any_of(op->operands(),
                             [&](const Value* v) { return depends_on(v, variables); });
}

// Whether the value is the variable, or was computed in its place.
bool Emitter::is_variable(const Value* value, const Value* variable) const {
  const std::string& name = value_names_[value->id()];
  return value == variable || (!name.empty() && name == value_names_[variable->id()]);
}

// All at once: what an earlier assignment would overwrite is copied first.
void Emitter::assign(std::span<Value* const> targets, std::span<Value* const> values) {
  std::vector<std::string> copies(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_variable(values[i], targets[i]) || !depends_on(values[i], targets)) continue;
    copies[i] = names_.unique("next");
    out_.line(declaration(values[i], copies[i]) + ";");
    assign_one(copies[i], values[i]);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_variable(values[i], targets[i])) continue;
    const std::string& target = name_of(targets[i]);
    if (copies[i].empty()) {
      assign_one(target, values[i]);
      continue;
    }
    int64_t registers = values[i]->type().rank() ? registers_of(values[i]) : 1;
    std::string at = registers > 1 ? "[r]" : "";
    open_registers(registers);
    out_.line(target + at + " = " + copies[i] + at + ";");
    close_registers(registers);
  }
}

void Emitter::for_loop(const Operation& op) {
  const ir::Region& body = *op.region(0);
  std::span<Value* const> variables = body.arguments().subspan(1);
  for (size_t i = 0; i < variables.size(); ++i) {
    declare(variables[i]);
    alias(op.results()[i], variables[i]);
    const Value* initial = op.operand(3 + static_cast<int>(i));
    bool is_undefined = initial->definition() && initial->definition()->is(Opcode::kUndefined);
    if (!is_undefined) assign_one(name_of(variables[i]), initial);
  }
  const std::string& index = name_of(body.argument(0));
  std::string upper = use(op.operand(1)), step = use(op.operand(2));
  std::optional<int64_t> known = ir::constant_integer(op.operand(2));
  analysis::Range range = facts_.range(op.operand(2));
  std::string goes_on = index + " < " + upper;
  if (range.high < 0) goes_on = index + " > " + upper;
  if (range.low <= 0 && range.high >= 0)
    goes_on = step + " > 0 ? " + goes_on + " : " + index + " > " + upper;
  std::string next = known && *known == 1 ? "++" + index : index + " += " + step;
  if (int64_t factor = op.integer_or(ir::AttributeName::kLoopUnrollFactor, 0); factor > 1)
    out_.directive("#pragma unroll(" + std::to_string(factor) + ")");
  out_.open("for (" + type_of(body.argument(0)) + " " + index + " = " + use(op.operand(0)) + "; " +
            goes_on + "; " + next + ")");
  region(body);
  out_.at(op.location());
  assign(variables, body.terminator()->operands());
  out_.close();
}

void Emitter::while_loop(const Operation& op) {
  const ir::Region& condition = *op.region(0);
  const ir::Region& body = *op.region(1);
  std::span<Value* const> variables = body.arguments();
  for (size_t i = 0; i < variables.size(); ++i) {
    declare(variables[i]);
    alias(condition.arguments()[i], variables[i]);
    alias(op.results()[i], variables[i]);
    assign_one(name_of(variables[i]), op.operand(static_cast<int>(i)));
  }
  out_.open("while (true)");
  region(condition);
  out_.line("if (!" + use(condition.terminator()->operand(0)) + ") break;");
  region(body);
  out_.at(op.location());
  assign(variables, body.terminator()->operands());
  out_.close();
}

void Emitter::branch(const Operation& op) {
  for (const Value* result : op.results()) declare(result);
  auto part = [&](const ir::Region& nested) {
    region(nested);
    for (int i = 0; i < op.result_count(); ++i)
      assign_one(name_of(op.result(i)), nested.terminator()->operand(i));
  };
  out_.open("if (" + use(op.operand(0)) + ")");
  part(*op.region(0));
  const ir::Region& otherwise = *op.region(1);
  if (!otherwise.front()->is(Opcode::kYield) || op.result_count() > 0) {
    out_.otherwise();
    part(otherwise);
  }
  out_.close();
}

}  // namespace enceladus::codegen
