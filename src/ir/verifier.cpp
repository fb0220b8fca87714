#include "ir/verifier.h"

#include <algorithm>

#include "ir/op_rules.h"
#include "ir/printer.h"
#include "ir/type_rules.h"

namespace enceladus::ir {
namespace {

bool satisfies(const Type& type, const OperandInfo& operand, const Type& first) {
  switch (operand.rule) {
    case OperandRule::kAny:
      return !type.is_none();
    case OperandRule::kNumber:
      return type.is_number();
    case OperandRule::kFloat:
      return type.is_float();
    case OperandRule::kInt:
      return type.is_integer();
    case OperandRule::kBool:
      return type.is_bool();
    case OperandRule::kPointer:
      return type.is_pointer();
    case OperandRule::kDescriptor:
      return type.is_descriptor();
    case OperandRule::kScalarInt:
      return type.is_integer() && type.rank() == 0;
    case OperandRule::kScalarBool:
      return type.is_bool() && type.rank() == 0;
    case OperandRule::kTile:
      return type.is_tile();
    case OperandRule::kSame:
      return type == first;
    case OperandRule::kLike:
      return type == first.with_dtype(type.dtype());
    case OperandRule::kBoolLike:
      return type == first.with_dtype(DType::kInt1);
    case OperandRule::kIntLike:
      return type.is_integer() && type == first.with_dtype(type.dtype());
    case OperandRule::kPointee:
      return type == first.with_dtype(first.dtype());
  }
  return false;
}

bool has_value_of_kind(const Attribute& attribute) {
  switch (info(attribute.name).kind) {
    case AttributeKind::kInt:
    case AttributeKind::kBits:
      return std::holds_alternative<int64_t>(attribute.value);
    case AttributeKind::kInts:
      return std::holds_alternative<std::vector<int64_t>>(attribute.value);
    case AttributeKind::kText:
      return std::holds_alternative<std::string>(attribute.value);
    case AttributeKind::kRounding:
    case AttributeKind::kHintKind:
    case AttributeKind::kCombineKind:
    case AttributeKind::kInputPrecision:
    case AttributeKind::kAtomicKind:
    case AttributeKind::kPadding:
      break;
  }
  size_t count = enumerator_names(info(attribute.name).kind).size();
  const int64_t* value = std::get_if<int64_t>(&attribute.value);
  return value && *value >= 0 && *value < static_cast<int64_t>(count);
}

class Verifier {
 public:
  explicit Verifier(const Function& function)
      : function_(function), visible_(function.value_count()) {}

  std::vector<std::string> run() {
    if (function_.parameters().size() != function_.body().arguments().size())
      errors_.push_back("kernel @" + function_.name() + ": parameters and arguments differ");
    for (size_t i = 0; i < function_.parameters().size() && errors_.empty(); ++i) {
      const Type& type = function_.parameters()[i].type;
      if (!type.is_scalar() || type != function_.body().arguments()[i]->type())
        errors_.push_back("parameter " + function_.parameters()[i].name + " has a wrong type");
    }
    region(function_.body());
    return std::move(errors_);
  }

 private:
  void report(const Operation& op, std::string_view message) {
    errors_.push_back("`" + print(op) + "`: " + std::string(message));
  }
  void require(bool holds, const Operation& op, std::string_view message) {
    if (!holds) report(op, message);
  }

  // What the region defines is visible in it and in the regions nested there, from the definition
  // on.
  void region(const Region& region) {
    for (const Value* argument : region.arguments()) visible_[argument->id()] = true;
    for (const Operation* op : region) operation(*op);
    for (const Operation* op : region)
      for (const Value* result : op->results()) visible_[result->id()] = false;
    for (const Value* argument : region.arguments()) visible_[argument->id()] = false;
  }

  void operation(const Operation& op) {
    size_t before = errors_.size();
    operands(op);
    attributes(op);
    if (errors_.size() == before) results(op);
    if (errors_.size() == before && op.record().op_class == OpClass::kControl) control(op);
    for (const Region* nested : op.regions()) {
      require(nested->parent() == &op, op, "a region of another operation");
      region(*nested);
    }
    for (const Value* result : op.results()) visible_[result->id()] = true;
  }

  void operands(const Operation& op) {
    const OpRules& rules = op_rules(op.opcode());
    int count = op.operand_count();
    if (count < rules.fixed_operands || (count > rules.fixed_operands && !rules.is_variadic()))
      return report(op, "wrong number of operands");
    for (int i = 0; i < count; ++i) {
      const OperandInfo& rule = rules.operand(i);
      const Value* value = op.operand(i);
      if (!value) {
        require(rule.optional, op, "operand `" + std::string(rule.name) + "` is missing");
        continue;
      }
      require(visible_[value->id()], op,
              "operand `" + std::string(rule.name) + "` is not defined before its use");
      if (i > 0 && !op.operand(0)) continue;
      require(satisfies(value->type(), rule, op.operand(0)->type()), op,
              "operand `" + std::string(rule.name) + "` has type " + to_string(value->type()));
    }
  }

  void attributes(const Operation& op) {
    const OpRules& rules = op_rules(op.opcode());
    for (const AttributeInfo& rule : rules.attributes)
      require(rule.optional || op.has(rule.name), op,
              "attribute `" + std::string(info(rule.name).name) + "` is missing");
    for (const Attribute& attribute : op.attributes()) {
      bool known = std::any_of(rules.attributes.begin(), rules.attributes.end(),
                               [&](const AttributeInfo& r) { return r.name == attribute.name; });
      std::string name(info(attribute.name).name);
      require(known, op, "attribute `" + name + "` does not belong here");
      require(has_value_of_kind(attribute), op, "attribute `" + name + "` has a wrong value");
    }
  }

  void results(const Operation& op) {
    ResultRule rule = op_rules(op.opcode()).result;
    bool single = rule != ResultRule::kNone && rule != ResultRule::kCarried &&
                  op.record().op_class != OpClass::kReduction;
    if (single && op.result_count() != 1) return report(op, "it has one result");
    for (const Value* result : op.results()) {
      std::string message = check_extents(result->type());
      if (!message.empty()) report(op, message);
    }
    const Type first = op.operands().empty() || !op.operand(0) ? Type() : op.operand(0)->type();
    switch (rule) {
      case ResultRule::kNone:
        require(op.results().empty(), op, "it has no result");
        break;
      case ResultRule::kSame:
        require(op.result()->type() == first, op, "the result has not the operand's type");
        break;
      case ResultRule::kBoolLike:
        require(op.result()->type() == first.with_dtype(DType::kInt1), op,
                "the result is not an i1 of the operand's shape");
        break;
      case ResultRule::kPointee:
        require(op.result()->type() == first.with_dtype(first.dtype()), op,
                "the result is not what the pointer points to");
        break;
      case ResultRule::kGiven:
      case ResultRule::kCarried:
        break;
    }
    std::string message = check_given_types(op);
    if (!message.empty()) report(op, message);
  }

  void control(const Operation& op) {
    switch (op.opcode()) {
      case Opcode::kFor:
        if (!has_regions(op, 1)) return;
        loop_arguments(op, *op.region(0), {op.operand(0)}, op.operands().subspan(3));
        yields(op, *op.region(0));
        break;
      case Opcode::kWhile:
        if (!has_regions(op, 2)) return;
        for (const Region* region : op.regions()) loop_arguments(op, *region, {}, op.operands());
        condition(op, *op.region(0));
        yields(op, *op.region(1));
        break;
      case Opcode::kIf:
        if (!has_regions(op, 2)) return;
        for (const Region* region : op.regions()) {
          require(region->arguments().empty(), op, "a branch takes no arguments");
          yields(op, *region);
        }
        break;
      default:
        require(op.next() == nullptr && op.parent()->parent(), op, "yield ends a nested region");
    }
  }

  bool has_regions(const Operation& op, size_t count) {
    require(op.regions().size() == count, op, "wrong number of regions");
    return op.regions().size() == count;
  }

  void loop_arguments(const Operation& op, const Region& region,
                      std::initializer_list<const Value*> leading,
                      std::span<Value* const> initial) {
    std::vector<const Value*> expected(leading);
    expected.insert(expected.end(), initial.begin(), initial.end());
    if (region.arguments().size() != expected.size())
      return report(op, "wrong number of region arguments");
    for (size_t i = 0; i < expected.size(); ++i)
      require(region.arguments()[i]->type() == expected[i]->type(), op,
              "region argument " + std::to_string(i) + " has another type than its initial value");
    if (op.results().size() != initial.size()) return report(op, "wrong number of results");
    for (size_t i = 0; i < initial.size(); ++i)
      require(op.results()[i]->type() == initial[i]->type(), op,
              "result " + std::to_string(i) + " has another type than its initial value");
  }

  void yields(const Operation& op, const Region& region) {
    const Operation* yield = region.terminator();
    if (!yield) return report(op, "a region does not end in yield");
    if (yield->operands().size() != op.results().size())
      return report(op, "a region yields another number of values than there are results");
    for (size_t i = 0; i < op.results().size(); ++i)
      require(yield->operands()[i] && yield->operands()[i]->type() == op.results()[i]->type(), op,
              "value " + std::to_string(i) + " of a yield has another type than the result");
  }

  void condition(const Operation& op, const Region& region) {
    const Operation* yield = region.terminator();
    require(yield && yield->operand_count() == 1 && yield->operand(0) &&
                yield->operand(0)->type() == Type::number(DType::kInt1),
            op, "the first region of a while yields one i1");
  }

  const Function& function_;
  std::vector<bool> visible_;
  std::vector<std::string> errors_;
};

}  // namespace

std::vector<std::string> verify(const Function& function) { return Verifier(function).run(); }

}  // namespace enceladus::ir
