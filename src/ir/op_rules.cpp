#include "ir/op_rules.h"

#include <array>
#include <iterator>
#include <string>

#include "support/check.h"

namespace enceladus::ir {
namespace {

constexpr std::string_view kOperandRuleNames[] = {
    "any",         "number", "float", "int",  "bool",      "pointer",  "descriptor", "scalar_int",
    "scalar_bool", "tile",   "same",  "like", "bool_like", "int_like", "pointee"};
constexpr std::string_view kResultRuleNames[] = {"none",    "same",  "bool_like",
                                                 "pointee", "given", "carried"};

template <typename Rule>
Rule rule_from_name(std::span<const std::string_view> names, std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Rule>(i);
  check_failed(__FILE__, __LINE__, "rule of ops.def", std::string(name));
}

template <typename Use>
void for_each_item(std::string_view list, const Use& use) {
  while (!list.empty()) {
    size_t end = list.find(", ");
    use(list.substr(0, end));
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 2);
  }
}

bool strip_suffix(std::string_view& text, char suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(1);
  return true;
}

OperandInfo read_operand(std::string_view item) {
  size_t colon = item.find(": ");
  ENC_CHECK(colon != std::string_view::npos, std::string(item));
  OperandInfo operand;
  operand.name = item.substr(0, colon);
  operand.optional = strip_suffix(operand.name, '?');
  operand.variadic = strip_suffix(operand.name, '*');
  operand.rule = rule_from_name<OperandRule>(kOperandRuleNames, item.substr(colon + 2));
  return operand;
}

AttributeInfo read_attribute(std::string_view item) {
  AttributeInfo attribute{};
  attribute.optional = strip_suffix(item, '?');
  std::optional<AttributeName> name = attribute_from_name(item);
  ENC_CHECK(name.has_value(), std::string(item));
  attribute.name = *name;
  return attribute;
}

OpRules read_rules(const OpRecord& record) {
  OpRules rules;
  for_each_item(record.operands, [&](std::string_view item) {
    OperandInfo operand = read_operand(item);
    if (!operand.variadic) ++rules.fixed_operands;
    if (!operand.variadic && !operand.optional) ++rules.required_operands;
    rules.operands.push_back(operand);
  });
  for_each_item(record.attributes,
                [&](std::string_view item) { rules.attributes.push_back(read_attribute(item)); });
  rules.result = rule_from_name<ResultRule>(kResultRuleNames, record.result);
  return rules;
}

}  // namespace

const OpRules& op_rules(Opcode opcode) {
  static const std::array<OpRules, kOpCount> table = [] {
    std::array<OpRules, kOpCount> rules;
    for (int i = 0; i < kOpCount; ++i) rules[static_cast<size_t>(i)] = read_rules(kOps[i]);
    return rules;
  }();
  return table[static_cast<size_t>(opcode)];
}

}  // namespace enceladus::ir
