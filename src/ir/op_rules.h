// The rule strings of ops.def, read once into tables that the verifier, the printer, the parser and
// Function::create look things up in. Not: the checks themselves (ir/verifier.h).
#pragma once

#include <algorithm>
#include <vector>

#include "ir/opcode.h"

namespace enceladus::ir {

// What an operand must be; see ops.def for what each means.
enum class OperandRule : uint8_t {
  kAny,
  kNumber,
  kFloat,
  kInt,
  kBool,
  kPointer,
  kDescriptor,
  kScalarInt,
  kScalarBool,
  kTile,
  kSame,
  kLike,
  kBoolLike,
  kIntLike,
  kPointee,
};

enum class ResultRule : uint8_t { kNone, kSame, kBoolLike, kPointee, kGiven, kCarried };

struct OperandInfo {
  std::string_view name;
  OperandRule rule;
  bool optional = false;
  bool variadic = false;
  // Whether the type follows from the first operand's.
  bool implied() const {
    return rule == OperandRule::kSame || rule == OperandRule::kBoolLike ||
           rule == OperandRule::kPointee;
  }
  // Whether text states the type: neither implied nor a mere scalar integer.
  bool stated() const { return !implied() && rule != OperandRule::kScalarInt; }
};

struct AttributeInfo {
  AttributeName name;
  bool optional = false;
};

struct OpRules {
  std::vector<OperandInfo> operands;
  std::vector<AttributeInfo> attributes;
  ResultRule result = ResultRule::kNone;
  int fixed_operands = 0;     // all but a variadic tail
  int required_operands = 0;  // leading ones that are neither optional nor variadic

  bool is_variadic() const { return !operands.empty() && operands.back().variadic; }
  // What the operand at this index of an operation must be: a variadic tail repeats the last rule.
  const OperandInfo& operand(int index) const {
    return operands[std::min(static_cast<size_t>(index), operands.size() - 1)];
  }
};

const OpRules& op_rules(Opcode opcode);

}  // namespace enceladus::ir
