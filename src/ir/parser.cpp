#include "ir/parser.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/op_rules.h"
#include "ir/text_cursor.h"

namespace enceladus::ir {
namespace {

using Names = std::vector<std::string_view>;
using Values = std::vector<Value*>;

// What the user called it: without the suffix that made it unique; nothing for a number.
std::string_view user_name(std::string_view name) {
  if (name.front() >= '0' && name.front() <= '9') return {};
  return name.substr(0, name.find('.'));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(text) {}

  std::unique_ptr<Function> kernel() {
    cursor_.expect("kernel");
    cursor_.expect("@");
    function_ = std::make_unique<Function>(std::string(cursor_.identifier()), Location{});
    builder_.emplace(*function_);
    cursor_.expect("(");
    if (!cursor_.accept(")")) {
      do parameter();
      while (cursor_.accept(","));
      cursor_.expect(")");
    }
    options();
    region(&function_->body());
    if (!cursor_.at_end()) cursor_.fail("expected the end of the text");
    return std::move(function_);
  }

 private:
  void parameter() {
    ParameterInfo info;
    std::string_view name = cursor_.value_name();
    info.name = name;
    cursor_.expect(":");
    info.type = cursor_.type();
    if (cursor_.accept("{")) {
      do {
        if (cursor_.accept("divisible_by_16")) {
          info.divisible_by_16 = true;
        } else if (cursor_.accept("equal_to_1")) {
          info.equal_to_1 = true;
        } else {
          cursor_.expect("aligned_16");
          info.aligned_16 = true;
        }
      } while (cursor_.accept(","));
      cursor_.expect("}");
    }
    define(name, function_->append_parameter(std::move(info)));
  }

  void options() {
    FunctionOptions& options = function_->options();
    cursor_.expect("{");
    cursor_.expect("num_warps");
    cursor_.expect("=");
    options.num_warps = static_cast<int>(cursor_.integer());
    cursor_.expect(",");
    cursor_.expect("math_mode");
    cursor_.expect("=");
    if (cursor_.accept("fast")) {
      options.math_mode = MathMode::kFast;
    } else if (cursor_.accept("precise")) {
      options.math_mode = MathMode::kPrecise;
    } else {
      cursor_.expect("relaxed");
    }
    if (cursor_.accept(", debug")) options.debug = true;
    if (cursor_.accept(", arrays_disjoint")) options.arrays_disjoint = true;
    if (cursor_.accept(", arrays_small")) options.arrays_small = true;
    if (cursor_.accept(", dot_warps = ")) {
      options.dot_warps_m = static_cast<int>(cursor_.integer());
      cursor_.expect("by");
      options.dot_warps_n = static_cast<int>(cursor_.integer());
    }
    if (cursor_.accept(", dot_backend = ")) options.dot_backend = dot_backend();
    cursor_.expect("}");
  }

  DotBackend dot_backend() {
    if (cursor_.accept("simdgroup")) return DotBackend::kSimdgroup;
    if (cursor_.accept("mpp")) return DotBackend::kMpp;
    if (cursor_.accept("wgmma")) return DotBackend::kWgmma;
    cursor_.expect("mma");
    return DotBackend::kMma;
  }

  void define(std::string_view name, Value* value) {
    value->set_name(user_name(name));
    if (!values_.emplace(name, value).second)
      cursor_.fail("`%" + std::string(name) + "` is defined twice");
  }

  Value* use() {
    std::string_view name = cursor_.value_name();
    auto it = values_.find(name);
    if (it == values_.end()) cursor_.fail("`%" + std::string(name) + "` is not defined");
    return it->second;
  }

  Values uses() {
    Values values;
    do values.push_back(use());
    while (cursor_.accept(","));
    return values;
  }

  Names names() {
    Names names;
    do names.push_back(cursor_.value_name());
    while (cursor_.accept(","));
    return names;
  }

  std::vector<Type> types() {
    std::vector<Type> types;
    do types.push_back(cursor_.type());
    while (cursor_.accept(","));
    return types;
  }

  void define_results(const Names& names, Operation* op) {
    if (static_cast<int>(names.size()) != op->result_count())
      cursor_.fail("`" + std::string(op->record().name) + "` has " +
                   std::to_string(op->result_count()) + " results");
    for (size_t i = 0; i < names.size(); ++i) define(names[i], op->results()[i]);
  }

  // `{ operations }`, with the builder's insertion point restored.
  void region(Region* region) {
    Region* outer = builder_->region();
    builder_->set_insertion_at_end(region);
    cursor_.expect("{");
    while (!cursor_.accept("}")) operation();
    builder_->set_insertion_at_end(outer);
  }

  void arguments(Region* region) {
    cursor_.expect("(");
    Names list = cursor_.next_is("%") ? names() : Names();
    cursor_.expect(")");
    if (list.size() != region->arguments().size()) cursor_.fail("wrong number of arguments");
    for (size_t i = 0; i < list.size(); ++i) define(list[i], region->arguments()[i]);
  }

  void operation() {
    Names results;
    if (cursor_.next_is("%")) {
      results = names();
      cursor_.expect("=");
    }
    std::string_view word = cursor_.identifier();
    std::optional<Opcode> opcode = opcode_from_name(word);
    if (!opcode) cursor_.fail("no operation is named `" + std::string(word) + "`");
    switch (*opcode) {
      case Opcode::kConstant:
        return constant(results);
      case Opcode::kFor:
        return for_loop(results);
      case Opcode::kWhile:
        return while_loop(results);
      case Opcode::kIf:
        return branch(results);
      default:
        return plain(*opcode, results);
    }
  }

  void constant(const Names& results) {
    std::string_view literal = cursor_.literal();
    cursor_.expect(":");
    Type type = cursor_.type();
    uint64_t bits = cursor_.constant_of(literal, type.dtype());
    define_results(results, builder_->constant_bits(type, bits)->definition());
  }

  void plain(Opcode opcode, const Names& results) {
    const OpRules& rules = op_rules(opcode);
    Values values = operands(rules);
    std::vector<Attribute> list = attributes();
    std::vector<Type> result_types = plain_types(opcode, rules, values);
    bool nested = cursor_.next_is("(");
    Operation* op = builder_->create(opcode, values, result_types, std::move(list), nested ? 1 : 0);
    if (nested) {
      for (int copy = 0; copy < 2; ++copy)
        for (Value* value : values) op->region(0)->append_argument(value->type().element());
      arguments(op->region(0));
      region(op->region(0));
    }
    define_results(results, op);
  }

  // Positional operands, then `name = %value` for optional ones.
  Values operands(const OpRules& rules) {
    Values values;
    bool more = !rules.operands.empty() && (cursor_.next_is("%") || cursor_.next_is_assignment());
    while (more) {
      if (cursor_.next_is("%")) {
        values.push_back(use());
      } else {
        named_operand(rules, values);
      }
      more = cursor_.accept(",");
    }
    if (static_cast<int>(values.size()) < rules.required_operands)
      cursor_.fail("expected " + std::to_string(rules.required_operands) + " operands");
    return values;
  }

  void named_operand(const OpRules& rules, Values& values) {
    std::string_view name = cursor_.identifier();
    cursor_.expect("=");
    for (size_t i = 0; i < rules.operands.size(); ++i) {
      if (rules.operands[i].name != name || !rules.operands[i].optional) continue;
      values.resize(std::max(values.size(), i + 1));
      values[i] = use();
      return;
    }
    cursor_.fail("there is no optional operand `" + std::string(name) + "`");
  }

  std::vector<Attribute> attributes() {
    std::vector<Attribute> list;
    if (!cursor_.next_is("{")) return list;
    TextCursor start = cursor_;
    cursor_.expect("{");
    if (!cursor_.next_is_assignment()) {  // a region
      cursor_ = start;
      return list;
    }
    do list.push_back(attribute());
    while (cursor_.accept(","));
    cursor_.expect("}");
    return list;
  }

  Attribute attribute() {
    std::string_view word = cursor_.identifier();
    std::optional<AttributeName> name = attribute_from_name(word);
    if (!name) cursor_.fail("no attribute is named `" + std::string(word) + "`");
    cursor_.expect("=");
    AttributeKind kind = info(*name).kind;
    switch (kind) {
      case AttributeKind::kInt:
      case AttributeKind::kBits:
        return {*name, cursor_.integer()};
      case AttributeKind::kText:
        return {*name, cursor_.text()};
      case AttributeKind::kInts:
        return {*name, integers()};
      case AttributeKind::kRounding:
      case AttributeKind::kHintKind:
      case AttributeKind::kCombineKind:
      case AttributeKind::kInputPrecision:
      case AttributeKind::kAtomicKind:
      case AttributeKind::kPadding:
        break;
    }
    std::string_view value = cursor_.identifier();
    std::span<const std::string_view> names = enumerator_names(kind);
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == value) return {*name, static_cast<int64_t>(i)};
    cursor_.fail("`" + std::string(value) + "` is no value of `" + std::string(word) + "`");
  }

  std::vector<int64_t> integers() {
    std::vector<int64_t> list;
    cursor_.expect("[");
    if (cursor_.accept("]")) return list;
    do list.push_back(cursor_.integer());
    while (cursor_.accept(","));
    cursor_.expect("]");
    return list;
  }

  // Reads what stands behind the colon and returns the results' types.
  std::vector<Type> plain_types(Opcode opcode, const OpRules& rules, const Values& values) {
    OpClass op_class = info(opcode).op_class;
    bool given = rules.result == ResultRule::kGiven;
    bool results_only = given && (op_class == OpClass::kSource || op_class == OpClass::kMemory ||
                                  rules.operands.empty());
    std::vector<Type> stated;
    if (cursor_.accept(":")) stated = types();
    if (results_only || (given && states_no_operand(rules, values))) return stated;
    if (!stated.empty()) check_stated(rules, values, stated);
    if (given) {
      cursor_.expect("->");
      return types();
    }
    if (rules.result == ResultRule::kNone) return {};
    if (values.empty() || !values[0]) cursor_.fail("an operand is missing");
    const Type& first = values[0]->type();
    if (rules.result == ResultRule::kBoolLike) return {first.with_dtype(DType::kInt1)};
    if (rules.result == ResultRule::kPointee) return {first.with_dtype(first.dtype())};
    return {first};
  }

  // Whether the types of all operands follow from the operation.
  static bool states_no_operand(const OpRules& rules, const Values& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      const OperandInfo& rule = rules.operands[std::min(i, rules.operands.size() - 1)];
      if (values[i] && !rule.implied() && rule.rule != OperandRule::kScalarInt) return false;
    }
    return true;
  }

  void check_stated(const OpRules& rules, const Values& values, const std::vector<Type>& stated) {
    size_t next = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const OperandInfo& rule = rules.operand(static_cast<int>(i));
      if (!rule.stated() || !values[i]) continue;
      if (next >= stated.size()) cursor_.fail("too few types");
      if (stated[next] != values[i]->type())
        cursor_.fail("operand `" + std::string(rule.name) + "` has type " +
                     to_string(values[i]->type()) + ", not " + to_string(stated[next]));
      ++next;
    }
    if (next != stated.size()) cursor_.fail("too many types");
  }

  struct Carried {
    Names names;
    Values initial;
  };

  Carried carried() {
    Carried result;
    if (!cursor_.accept("carry")) return result;
    cursor_.expect("(");
    do {
      result.names.push_back(cursor_.value_name());
      cursor_.expect("=");
      result.initial.push_back(use());
    } while (cursor_.accept(","));
    cursor_.expect(")");
    return result;
  }

  std::vector<Type> result_types() {
    if (!cursor_.accept(":")) return {};
    cursor_.expect("(");
    std::vector<Type> list = types();
    cursor_.expect(")");
    return list;
  }

  void check_carried_types(const Values& initial) {
    std::vector<Type> stated = result_types();
    bool equal = stated.size() == initial.size();
    for (size_t i = 0; equal && i < stated.size(); ++i) equal = stated[i] == initial[i]->type();
    if (!equal) cursor_.fail("the types are not those of the initial values");
  }

  void for_loop(const Names& results) {
    std::string_view variable = cursor_.value_name();
    cursor_.expect("=");
    Value* lower = use();
    cursor_.expect("to");
    Value* upper = use();
    cursor_.expect("step");
    Value* step = use();
    std::vector<Attribute> list = attributes();
    Carried carry = carried();
    check_carried_types(carry.initial);
    Operation* op = builder_->for_loop(lower, upper, step, carry.initial);
    for (Attribute& attribute : list) op->set_attribute(attribute.name, attribute.value);
    define(variable, op->region(0)->argument(0));
    define_carried(carry, op->region(0), 1);
    region(op->region(0));
    define_results(results, op);
  }

  void define_carried(const Carried& carry, Region* region, int skipped) {
    for (size_t i = 0; i < carry.names.size(); ++i)
      define(carry.names[i], region->argument(static_cast<int>(i) + skipped));
  }

  void while_loop(const Names& results) {
    Carried carry = carried();
    check_carried_types(carry.initial);
    Operation* op = builder_->while_loop(carry.initial);
    define_carried(carry, op->region(0), 0);
    region(op->region(0));
    cursor_.expect("do");
    arguments(op->region(1));
    region(op->region(1));
    define_results(results, op);
  }

  void branch(const Names& results) {
    Value* condition = use();
    std::vector<Type> list = result_types();
    Operation* op = builder_->if_else(condition, list);
    region(op->region(0));
    if (cursor_.accept("else")) {
      region(op->region(1));
    } else {
      builder_->set_insertion_at_end(op->region(1));
      builder_->yield({});
      builder_->set_insertion_at_end(op->parent());
    }
    define_results(results, op);
  }

  TextCursor cursor_;
  std::unique_ptr<Function> function_;
  std::optional<Builder> builder_;
  std::unordered_map<std::string_view, Value*> values_;
};

}  // namespace

std::unique_ptr<Function> parse(std::string_view text) { return Parser(text).kernel(); }

}  // namespace enceladus::ir
