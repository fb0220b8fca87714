// No operation of the tile IR is forgotten by what works on all of them. (The parser's test holds
// the operands of every example in a switch without default; code generators are such switches.)
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/evaluate.h"
#include "ir/op_rules.h"

namespace enceladus::ir {
namespace {

bool belongs_to_tiles(const OpRecord& record) { return record.op_class != OpClass::kSimt; }

// What ir/evaluate.h leaves to the targets: their results may differ in the last bit.
bool differs_between_targets(Opcode opcode) {
  switch (opcode) {
    case Opcode::kExp:
    case Opcode::kExp2:
    case Opcode::kLog:
    case Opcode::kLog2:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kTanh:
    case Opcode::kErf:
      return true;
    default:
      return false;
  }
}

TEST(Completeness, every_elementwise_operation_of_numbers_is_evaluated) {
  for (const OpRecord& record : kOps) {
    if (record.op_class != OpClass::kElementwise || record.opcode == Opcode::kAddPtr) continue;
    const OpRules& rules = op_rules(record.opcode);
    DType dtype = rules.operands[0].rule == OperandRule::kFloat ? DType::kFloat32 : DType::kInt32;
    DType result = rules.result == ResultRule::kBoolLike ? DType::kInt1 : dtype;
    std::vector<uint64_t> operands(rules.operands.size(), bits_of(dtype, 1.0));
    bool evaluated =
        evaluate({.opcode = record.opcode, .operand = dtype, .result = result}, operands)
            .has_value();
    EXPECT_EQ(evaluated, !differs_between_targets(record.opcode)) << record.name;
  }
}

TEST(Completeness, every_rule_of_the_table_is_read) {
  for (const OpRecord& record : kOps) {
    const OpRules& rules = op_rules(record.opcode);
    EXPECT_EQ(rules.operands.empty(), record.operands.empty()) << record.name;
    EXPECT_EQ(rules.attributes.empty(), record.attributes.empty()) << record.name;
    for (size_t i = 0; i + 1 < rules.operands.size(); ++i)
      EXPECT_FALSE(rules.operands[i].variadic) << record.name;
  }
}

TEST(Completeness, every_operation_of_tiles_has_a_summary_and_an_example_of_itself) {
  for (const OpRecord& record : kOps) {
    if (!belongs_to_tiles(record)) continue;
    EXPECT_FALSE(record.summary.empty()) << record.name;
    EXPECT_NE(record.example.find(record.name), std::string_view::npos) << record.name;
  }
}

}  // namespace
}  // namespace enceladus::ir
