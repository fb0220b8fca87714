// `and`, `or`, chained comparisons and conditional expressions on run-time scalars (declared in
// frontend/evaluate.h).
//
// Python does not evaluate the part that is not needed. A pure part costs nothing and cannot fail,
// so it is evaluated always and joined by one operation; anything else stays under the condition,
// so that `i < n and tl.load(p + i) > 0` never reads behind the end.
#include "frontend/arithmetic.h"
#include "frontend/evaluate.h"
#include "frontend/literals.h"
#include "frontend/promotion.h"

namespace enceladus::frontend {
namespace {

bool is_pure(const ir::Region& region) {
  for (ir::Operation* op : region)
    if (op->record().effect != ir::Effect::kPure) return false;
  return true;
}

void hoist(ir::Region& region, ir::Operation* before) {
  for (ir::Operation* op : region) op->move_before(before);
}

struct Branch {
  const Node* node = nullptr;  // null: `value` is the result
  Value value = {};
};

Value evaluate_branch(Context& context, const Branch& branch, ir::Region* region) {
  context.builder.set_insertion_at_end(region);
  return branch.node ? evaluate(context, *branch.node) : branch.value;
}

bool same_pointers(const Value& a, const Value& b) {
  return a.is_runtime() && b.is_runtime() && a.type().is_pointer() && b.type().is_pointer() &&
         a.type().dtype() == b.type().dtype();
}

// What both results become: a common type and shape.
struct Common {
  bool pointers = false;
  DType dtype = DType::kInt32;
  std::vector<int64_t> shape;
};

Common common_type(Context& context, const Value& a, const Value& b) {
  Common common;
  common.pointers = same_pointers(a, b);
  if (!common.pointers && (!is_number(context, a) || !is_number(context, b)))
    context.fail(DiagnosticId::kConditionalTypes, {describe(a), describe(b)});
  if (!common.pointers) common.dtype = common_dtype(context, a, b);
  common.shape = common_shape(context, shape_of(a), shape_of(b));
  return common;
}

ir::Value* converted(Context& context, const Value& value, const Common& common) {
  if (common.pointers) return context.builder.broadcast_to(value.ssa, common.shape);
  return materialize_as(context, value, common.dtype, common.shape);
}

Value joined_by_operation(Context& context, ir::Value* condition, const Value& on_true,
                          const Value& on_false) {
  if (is_same(on_true, on_false)) return on_true;
  Common common = common_type(context, on_true, on_false);
  ir::Value* left = converted(context, on_true, common);
  ir::Value* right = converted(context, on_false, common);
  if (right == condition) return emit(context, ir::Opcode::kAnd, {condition, left});
  if (left == condition) return emit(context, ir::Opcode::kOr, {condition, right});
  ir::Value* mask = context.builder.broadcast_to(condition, common.shape);
  return emit(context, ir::Opcode::kSelect, {left, right, mask});
}

Value joined_by_branches(Context& context, ir::Operation* op, const Value& on_true,
                         const Value& on_false) {
  Common common = common_type(context, on_true, on_false);
  const Value* values[] = {&on_true, &on_false};
  ir::Value* last = nullptr;
  for (int i = 0; i < 2; ++i) {
    context.builder.set_insertion_at_end(op->region(i));
    last = converted(context, *values[i], common);
    context.builder.yield({last});
  }
  return Value::runtime(op->append_result(last->type()));
}

Value select_between(Context& context, const Node& node, ir::Value* condition, const Branch& yes,
                     const Branch& no) {
  ir::Region* outer = context.builder.region();
  ir::Operation* op = context.builder.if_else(condition, {});
  Value on_true = evaluate_branch(context, yes, op->region(0));
  Value on_false = evaluate_branch(context, no, op->region(1));
  context.at(node);
  bool pure = is_pure(*op->region(0)) && is_pure(*op->region(1));
  if (pure) {
    for (ir::Region* region : op->regions()) hoist(*region, op);
    op->erase();
    context.builder.set_insertion_at_end(outer);
    return joined_by_operation(context, condition, on_true, on_false);
  }
  Value result = joined_by_branches(context, op, on_true, on_false);
  context.builder.set_insertion_at_end(outer);
  return result;
}

// `left and RIGHT`, `left or RIGHT` where left is known.
Value join(Context& context, const Node& node, bool is_and, const Value& left, const Node& right) {
  Value condition_value = condition(context, left);
  if (condition_value.is_constant())
    return condition_value.is_true() == is_and ? evaluate(context, right) : left;
  Branch other{.node = &right};
  Branch self{.node = nullptr, .value = left};
  return select_between(context, node, condition_value.ssa, is_and ? other : self,
                        is_and ? self : other);
}

Value compare_chain(Context& context, const Node& node, const Value& left, size_t index);

// The rest of a chain behind its first comparison; evaluated only where that one holds.
Value rest_of_chain(Context& context, const Node& node, const Value& first, const Value& middle,
                    size_t index) {
  Value known = condition(context, first);
  if (known.is_constant())
    return known.is_true() ? compare_chain(context, node, middle, index) : known;
  ir::Operation* op = context.builder.if_else(known.ssa, {});
  context.builder.set_insertion_at_end(op->region(0));
  Value rest = condition(context, compare_chain(context, node, middle, index));
  ir::Value* value = materialize(context, rest);
  bool pure = is_pure(*op->region(0));
  if (pure) {
    hoist(*op->region(0), op);
    context.builder.set_insertion_at_end(op->parent());
    op->erase();
    return emit(context, ir::Opcode::kAnd, {known.ssa, value});
  }
  context.builder.yield({value});
  context.builder.set_insertion_at_end(op->region(1));
  context.builder.yield({context.builder.boolean(false)});
  ir::Value* result = op->append_result(value->type());
  context.builder.set_insertion_at_end(op->parent());
  return Value::runtime(result);
}

Value compare_chain(Context& context, const Node& node, const Value& left, size_t index) {
  Value right = evaluate(context, *node.items[index]);
  context.at(node);
  Value first = compare(context, node.operators[index], left, right);
  if (index + 1 == node.items.size()) return first;
  return rest_of_chain(context, node, first, right, index + 1);
}

}  // namespace

Value boolean_operation(Context& context, const Node& node) {
  bool is_and = node.op == Operator::kAnd;
  Value result = evaluate(context, *node.items.front());
  for (size_t i = 1; i < node.items.size(); ++i) {
    context.at(node);
    result = join(context, node, is_and, result, *node.items[i]);
  }
  return result;
}

Value comparison(Context& context, const Node& node) {
  Value left = evaluate(context, *node.first);
  return compare_chain(context, node, left, 0);
}

Value conditional(Context& context, const Node& node) {
  Value chosen = evaluate_condition(context, *node.first);
  if (chosen.is_constant()) return evaluate(context, chosen.is_true() ? *node.second : *node.third);
  return select_between(context, node, chosen.ssa, Branch{.node = node.second},
                        Branch{.node = node.third});
}

}  // namespace enceladus::frontend
