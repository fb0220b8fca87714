// Loops: `for` over ranges and compile-time sequences, and `while` (declared in
// frontend/statements.h).
//
// A variable that exists before a run-time loop and is assigned in it becomes a carried value, the
// loop's own variable too where both have one type, so that it keeps its last value. A loop that
// can be left early (`break`, `return`) becomes a `while` with flags, which stop it.
#include "frontend/arithmetic.h"
#include "frontend/calls.h"
#include "frontend/evaluate.h"
#include "frontend/literals.h"
#include "frontend/loop_range.h"
#include "frontend/statements.h"
#include "support/check.h"

namespace enceladus::frontend {
namespace {

struct CarriedVariable {
  size_t slot;
  Value like;  // in SSA form, before the loop
  Location assigned;
};

// The values of one run-time loop that go from iteration to iteration: first those of the lowering
// itself (index and flags), then the user's variables.
class Carried {
 public:
  // `index`: a value of the type that the loop's own variable has; null for a `while`.
  Carried(Context& context, const Node& node, ir::Value* index) : context_(context), node_(node) {
    std::vector<Variable>& variables = context.state().variables;
    for (int32_t slot : node.assigned) {
      Variable& variable = variables[static_cast<size_t>(slot)];
      bool usable =
          !variable.value.is(Value::Kind::kUndefined) && !variable.value.is(Value::Kind::kUnusable);
      if (!usable) continue;
      Value before =
          is_target(slot) ? as_target(variable, index) : as_carried(context, variable.value);
      if (before.is(Value::Kind::kUndefined)) continue;
      variables_.push_back({static_cast<size_t>(slot), before, variable.assigned});
    }
  }

  std::vector<ir::Value*> initial() const {
    std::vector<ir::Value*> leaves;
    for (const CarriedVariable& variable : variables_) flatten(variable.like, leaves);
    return leaves;
  }

  // Gives the variables the values of `leaves` (region arguments or results).
  void bind(std::span<ir::Value* const> leaves) {
    size_t next = 0;
    for (const CarriedVariable& variable : variables_)
      context_.state().variables[variable.slot].value = rebuild(variable.like, leaves, next);
  }

  // The variables' values at the end of an iteration; an error where one has changed its type.
  void append_leaves(std::vector<ir::Value*>& leaves) {
    for (const CarriedVariable& variable : variables_) {
      const Variable& now = context_.state().variables[variable.slot];
      std::optional<Value> value = conformed(context_, now.value, variable.like);
      if (!value) fail_changed(variable, now);
      flatten(*value, leaves);
    }
  }

  // Behind the loop: names assigned in it that did not exist before have no value.
  void forget_others(const State& after) {
    for (int32_t slot : node_.assigned) {
      size_t index = static_cast<size_t>(slot);
      bool carried = false;
      for (const CarriedVariable& variable : variables_) carried |= variable.slot == index;
      if (carried) continue;
      Value& value = context_.state().variables[index].value;
      if (value.is_reported()) continue;
      Location place = after.variables[index].assigned;
      Unusable reason{DiagnosticId::kDefinedInLoop, {name_of(index)}, place};
      if (is_target(slot) && !target_before_.empty())
        reason = {DiagnosticId::kLoopTargetChanges,
                  {name_of(index), target_before_, target_type_},
                  place};
      value = Value::unusable(std::move(reason));
    }
  }

 private:
  bool is_target(int32_t slot) const {
    return node_.kind == NodeKind::kFor && node_.first->kind == NodeKind::kName &&
           node_.first->slot == slot;
  }
  const std::string& name_of(size_t slot) const { return context_.frame->function->slots[slot]; }

  // What the loop's own variable holds before the loop, in its type there; undefined where that is
  // another type.
  Value as_target(const Variable& variable, ir::Value* index) {
    std::optional<Value> value = conformed(context_, variable.value, Value::runtime(index));
    if (value) return *value;
    target_before_ = describe(variable.value);
    target_type_ = to_user_string(index->type());
    return Value();
  }

  [[noreturn]] void fail_changed(const CarriedVariable& variable, const Variable& now) {
    if (now.value.is(Value::Kind::kUnusable)) fail_unusable(context_, now.value, now.assigned);
    std::string before = std::to_string(variable.assigned.line);
    std::string after = std::to_string(now.assigned.line);
    if (variable.like.is_descriptor() && now.value.is_descriptor())
      context_.fail_at(now.assigned, DiagnosticId::kDescriptorChanges,
                       {name_of(variable.slot), before, after});
    Diagnostic diagnostic = make_diagnostic(
        DiagnosticId::kLoopVariableChanges, now.assigned,
        {name_of(variable.slot), describe(variable.like), describe(now.value), before, after});
    diagnostic.notes.push_back({variable.assigned, "`" + name_of(variable.slot) + "` is " +
                                                       describe(variable.like) + " here"});
    context_.fail(std::move(diagnostic));
  }

  Context& context_;
  const Node& node_;
  std::vector<CarriedVariable> variables_;
  // What the loop's own variable was and what it becomes, where it cannot be carried.
  std::string target_before_, target_type_;
};

// The state in which a loop's body starts: no flags, no result.
void reset_flags(State& state) {
  state.returned = state.broke = state.continued = Value::boolean(false);
  state.result = Value();
  state.dead = false;
}

// Takes out the carried values that no iteration changes. Gives what each carried value is behind
// the loop: its result, or what it was before.
std::vector<ir::Value*> without_invariants(ir::Operation* op, int first_operand,
                                           int first_argument) {
  std::vector<ir::Value*> last(op->results().begin(), op->results().end());
  ir::Region* body = op->regions().back();
  ir::Operation* yield = body->terminator();
  for (int i = op->result_count() - 1; i >= 0; --i) {
    ir::Value* argument = body->argument(first_argument + i);
    if (yield->operand(i) != argument) continue;
    ir::Value* initial = op->operand(first_operand + i);
    last[static_cast<size_t>(i)] = initial;
    yield->erase_operand(i);
    for (ir::Region* region : op->regions()) {
      region->argument(first_argument + i)->replace_all_uses_with(initial);
      region->erase_argument(first_argument + i);
    }
    op->erase_operand(first_operand + i);
    op->erase_result(i);
  }
  return last;
}

void run_plain_for(Context& context, const Node& node, const LoopRange& range) {
  Carried carried(context, node, range.lower);
  State before = context.state();
  ir::Region* outer = context.builder.region();
  ir::Operation* op =
      context.builder.for_loop(range.lower, range.upper, range.step, carried.initial());
  for (const ir::Attribute& hint : range.hints) op->set_attribute(hint.name, hint.value);
  ir::Region* body = op->region(0);
  context.builder.set_insertion_at_end(body);
  carried.bind(body->arguments().subspan(1));
  body->argument(0)->set_name(
      node.first->kind == NodeKind::kName ? nb::cast<std::string_view>(node.first->object) : "i");
  assign(context, *node.first, Value::runtime(body->argument(0)));
  run_block(context, node.items, false);
  context.at(node);
  std::vector<ir::Value*> leaves;
  carried.append_leaves(leaves);
  context.builder.yield(leaves);
  context.builder.set_insertion_at_end(outer);
  State after = std::move(context.state());
  context.state() = before;
  carried.bind(without_invariants(op, 3, 1));
  carried.forget_others(after);
}

// A run-time loop with a condition of its own and flags: every `while`, and each `for` that can be
// left early.
class FlagLoop {
 public:
  FlagLoop(Context& context, const Node& node, const LoopRange* range)
      : context_(context),
        node_(node),
        range_(range),
        carried_(context, node, range ? range->lower : nullptr) {}

  void run() {
    State before = context_.state();
    ir::Region* outer = context_.builder.region();
    op_ = context_.builder.while_loop(initial());
    context_.builder.set_insertion_at_end(op_->region(0));
    bind(op_->region(0)->arguments());
    build_test();
    context_.state() = before;
    context_.builder.set_insertion_at_end(op_->region(1));
    bind(op_->region(1)->arguments());
    reset_flags(context_.state());
    if (range_) assign(context_, *node_.first, Value::runtime(op_->region(1)->argument(0)));
    run_block(context_, node_.items, false);
    context_.at(node_);
    Value result = end_iteration();
    context_.builder.set_insertion_at_end(outer);
    State after = std::move(context_.state());
    context_.state() = std::move(before);
    leave(after, result);
  }

 private:
  bool has_break() const { return node_.escapes & kBreaks; }
  bool has_return() const { return node_.escapes & kReturns; }
  // Values in front of the user's: the index, the flag of `break`, the flag of `return`.
  int own_values() const { return (range_ ? 1 : 0) + has_break() + has_return(); }

  std::vector<ir::Value*> initial() {
    std::vector<ir::Value*> values;
    if (range_) values.push_back(range_->lower);
    for (int i = range_ ? 1 : 0; i < own_values(); ++i)
      values.push_back(context_.builder.boolean(false));
    for (ir::Value* leaf : carried_.initial()) values.push_back(leaf);
    return values;
  }

  void bind(std::span<ir::Value* const> values) {
    carried_.bind(values.subspan(static_cast<size_t>(own_values())));
  }

  ir::Value* in_range(ir::Value* index) {
    std::optional<int64_t> step = ir::constant_integer(range_->step);
    ir::Builder& builder = context_.builder;
    ir::Value* up = nullptr;
    ir::Value* down = nullptr;
    if (!step || *step > 0) up = builder.create(ir::Opcode::kLt, {index, range_->upper});
    if (!step || *step < 0) down = builder.create(ir::Opcode::kGt, {index, range_->upper});
    if (!up || !down) return up ? up : down;
    ir::Value* zero = builder.integer(range_->step->type(), 0);
    ir::Value* rises = builder.create(ir::Opcode::kGt, {range_->step, zero});
    return builder.create(ir::Opcode::kSelect, {up, down, rises});
  }

  // Region 0: go on unless a flag is set or the user's condition fails. The condition may read
  // memory, so behind flags it is evaluated only where they permit.
  void build_test() {
    ir::Builder& builder = context_.builder;
    ir::Value* go = nullptr;
    for (int i = range_ ? 1 : 0; i < own_values(); ++i) {
      ir::Value* clear = builder.create(ir::Opcode::kNot, {op_->region(0)->argument(i)});
      go = go ? builder.create(ir::Opcode::kAnd, {go, clear}) : clear;
    }
    if (!go || range_) {
      ir::Value* test = range_ ? in_range(op_->region(0)->argument(0)) : user_condition();
      builder.yield({go ? builder.create(ir::Opcode::kAnd, {go, test}) : test});
      return;
    }
    ir::Operation* guarded = builder.if_else(go, {});
    builder.set_insertion_at_end(guarded->region(0));
    builder.yield({user_condition()});
    builder.set_insertion_at_end(guarded->region(1));
    builder.yield({builder.boolean(false)});
    builder.set_insertion_at_end(op_->region(0));
    if (endless_) {
      guarded->erase();
      builder.yield({go});
      return;
    }
    builder.yield({guarded->append_result(go->type())});
  }

  ir::Value* user_condition() {
    Value test = evaluate_condition(context_, *node_.first);
    endless_ = test.is_true();
    return materialize(context_, test);
  }

  // The yield of region 1. Gives the result of `return`s inside, undefined where there are none.
  Value end_iteration() {
    ir::Builder& builder = context_.builder;
    State& state = context_.state();
    std::vector<ir::Value*> values;
    if (range_)
      values.push_back(
          builder.create(ir::Opcode::kAdd, {op_->region(1)->argument(0), range_->step}));
    if (has_break()) values.push_back(materialize(context_, state.broke));
    if (has_return()) values.push_back(materialize(context_, state.returned));
    carried_.append_leaves(values);
    Value result = as_carried(context_, state.result);
    std::vector<ir::Value*> leaves;
    flatten(result, leaves);
    values.insert(values.end(), leaves.begin(), leaves.end());
    builder.yield(values);
    return result;
  }

  // Carries the result out; before the loop it holds something that nobody looks at.
  Value carry_result(const Value& like) {
    std::vector<ir::Value*> leaves, fillers;
    flatten(like, leaves);
    if (leaves.empty()) return like;
    context_.builder.set_insertion_before(op_);
    std::optional<Value> filler = placeholder(context_, like);
    ENC_CHECK(filler.has_value(), "a result that cannot be carried");
    flatten(*filler, fillers);
    std::vector<ir::Value*> results;
    for (ir::Value* value : fillers) {
      op_->append_operand(value);
      for (ir::Region* region : op_->regions()) region->append_argument(value->type());
      results.push_back(op_->append_result(value->type()));
    }
    context_.builder.set_insertion_at_end(op_->parent());
    size_t next = 0;
    return rebuild(like, results, next);
  }

  void leave(const State& after, const Value& result) {
    State& state = context_.state();
    std::vector<ir::Value*> last = without_invariants(op_, 0, 0);
    state.result = carry_result(result);
    state.result_place = after.result_place;
    int index = (range_ ? 1 : 0) + has_break();
    if (has_return()) state.returned = Value::runtime(last[static_cast<size_t>(index)]);
    bind(last);
    carried_.forget_others(after);
    // Only a `return` ends an endless loop without `break`.
    if (endless_ && !has_break()) {
      state.dead = true;
      state.returned = Value::boolean(true);
    }
  }

  Context& context_;
  const Node& node_;
  const LoopRange* range_;
  Carried carried_;
  ir::Operation* op_ = nullptr;
  bool endless_ = false;
};

// The iterations from `index` on, one after the other. A run-time `break` puts those behind it
// under a condition.
void run_unrolled(Context& context, const Node& node, std::span<const Value> items) {
  for (size_t i = 0; i < items.size(); ++i) {
    assign(context, *node.first, items[i]);
    run_block(context, node.items, false);
    State& now = context.state();
    // Otherwise every path that left did so by `continue`, or a flag tells at run time.
    if (now.broke.is_true() || now.returned.is_true()) return;
    now.dead = false;
    now.continued = Value::boolean(false);
    if (!now.broke.is_runtime() && !now.returned.is_runtime()) continue;
    std::span<const Value> rest = items.subspan(i + 1);
    if (!rest.empty())
      run_unless_stopped(context, [&] { run_unrolled(context, node, rest); }, false);
    return;
  }
}

bool has_named_expression(const Node* node) {
  if (!node) return false;
  if (node->kind == NodeKind::kNamedExpression) return true;
  for (const Node* child : {node->first, node->second, node->third})
    if (has_named_expression(child)) return true;
  for (const auto* list : {&node->items, &node->more})
    for (const Node* child : *list)
      if (has_named_expression(child)) return true;
  return false;
}

}  // namespace

void run_for(Context& context, const Node& node) {
  if (!node.more.empty()) context.fail(DiagnosticId::kLoopElse, {"for"});
  std::optional<LoopRange> range = loop_range(context, *node.second);
  context.at(node);
  if (range && !range->is_static) {
    if (node.escapes & (kBreaks | kReturns))
      FlagLoop(context, node, &*range).run();
    else
      run_plain_for(context, node, *range);
    return;
  }
  std::vector<Value> items;
  if (range) {
    for (int64_t i = range->first; range->increment > 0 ? i < range->last : i > range->last;
         i += range->increment)
      items.push_back(Value::constant(nb::int_(i)));
  } else {
    Value iterable = evaluate(context, *node.second);
    std::optional<std::vector<Value>> elements = iterable_elements(context, iterable);
    if (!elements) context.fail_at(*node.second, DiagnosticId::kNotIterable, {describe(iterable)});
    items = std::move(*elements);
  }
  run_unrolled(context, node, items);
  State& state = context.state();
  state.broke = state.continued = Value::boolean(false);
  if (state.dead && !state.returned.is_true()) state.dead = false;
}

void run_while(Context& context, const Node& node) {
  if (!node.more.empty()) context.fail(DiagnosticId::kLoopElse, {"while"});
  if (has_named_expression(node.first)) context.fail_at(*node.first, DiagnosticId::kWalrusInWhile);
  context.at(node);
  FlagLoop(context, node, nullptr).run();
}

}  // namespace enceladus::frontend
