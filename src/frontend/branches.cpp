// `if` on compile-time and run-time conditions, and joining what the branches made (declared in
// frontend/statements.h).
#include "frontend/arithmetic.h"
#include "frontend/evaluate.h"
#include "frontend/literals.h"
#include "frontend/promotion.h"
#include "frontend/statements.h"

namespace enceladus::frontend {
namespace {

struct Side {
  ir::Region* region;
  State* state;
};

// Makes one value of the two branches' values. Conversions are emitted at the end of the branch
// that needs them; what differs is collected as results of the `if`.
class Joiner {
 public:
  Joiner(Context& context, ir::Operation* op, State& on_true, State& on_false)
      : context_(context),
        op_(op),
        sides_{{{op->region(0), &on_true}, {op->region(1), &on_false}}} {}

  Variable join(const Variable& a, const Variable& b, const std::string& name) {
    const Location& place = b.assigned.known() && !is_undefined(b) ? b.assigned : a.assigned;
    if (is_same(a.value, b.value)) return {a.value, place};
    if (is_undefined(a) || is_undefined(b)) return join_with_nothing(a, b, name);
    for (const Variable* side : {&a, &b})
      if (side->value.is(Value::Kind::kUnusable)) return *side;
    if (std::optional<Value> joined = join_values(a.value, b.value)) return {*joined, place};
    if (a.value.is_descriptor() && b.value.is_descriptor())
      return {Value::unusable(
                  {DiagnosticId::kDescriptorsDisagree, {name, line_of(a), line_of(b)}, a.assigned}),
              place};
    return {Value::unusable({DiagnosticId::kBranchesDisagree,
                             {name, describe(a.value), describe(b.value), line_of(a), line_of(b)},
                             a.assigned}),
            place};
  }

  // Ends both regions with the values of the results.
  void finish() {
    for (int i = 0; i < 2; ++i) {
      context_.builder.set_insertion_at_end(sides_[i].region);
      context_.builder.yield(leaves_[i]);
    }
  }

 private:
  static bool is_undefined(const Variable& variable) {
    return variable.value.is(Value::Kind::kUndefined);
  }
  static std::string line_of(const Variable& variable) {
    return std::to_string(variable.assigned.line);
  }

  // Defined on one side only: usable where the other side never gets here.
  Variable join_with_nothing(const Variable& a, const Variable& b, const std::string& name) {
    int missing = is_undefined(a) ? 0 : 1;
    const Variable& there = missing == 0 ? b : a;
    if (there.value.is(Value::Kind::kUnusable)) return there;
    if (sides_[missing].state->dead) {
      context_.builder.set_insertion_at_end(sides_[missing].region);
      if (std::optional<Value> filler = placeholder(context_, there.value)) {
        std::optional<Value> joined =
            missing == 0 ? join_values(*filler, there.value) : join_values(there.value, *filler);
        if (joined) return {*joined, there.assigned};
      }
    }
    return {Value::unusable({DiagnosticId::kDefinedInOneBranch, {name}, there.assigned}),
            there.assigned};
  }

  std::optional<Value> join_values(const Value& a, const Value& b) {
    if (is_same(a, b)) return a;
    if (is_number(context_, a) && is_number(context_, b)) return join_numbers(a, b);
    if (a.is_runtime() && b.is_runtime() && a.type() == b.type()) return join_leaves(a.ssa, b.ssa);
    std::optional<std::vector<Value>> left = elements_of(a), right = elements_of(b);
    if (!left || !right || left->size() != right->size()) return std::nullopt;
    for (size_t i = 0; i < left->size(); ++i) {
      std::optional<Value> element = join_values((*left)[i], (*right)[i]);
      if (!element) return std::nullopt;
      (*left)[i] = *element;
    }
    return Value::tuple(std::move(*left));
  }

  std::optional<Value> join_numbers(const Value& a, const Value& b) {
    if (a.is_runtime() && b.is_runtime())
      return a.type() == b.type() ? std::optional(join_leaves(a.ssa, b.ssa)) : std::nullopt;
    DType dtype = common_dtype(context_, a, b);
    for (const Value* side : {&a, &b})
      if (side->is_runtime() && (side->type().rank() != 0 || side->type().dtype() != dtype))
        return std::nullopt;
    ir::Value* converted[2];
    for (int i = 0; i < 2; ++i) {
      context_.builder.set_insertion_at_end(sides_[i].region);
      converted[i] = materialize_as(context_, i == 0 ? a : b, dtype);
    }
    return join_leaves(converted[0], converted[1]);
  }

  Value join_leaves(ir::Value* a, ir::Value* b) {
    leaves_[0].push_back(a);
    leaves_[1].push_back(b);
    return Value::runtime(op_->append_result(a->type()));
  }

  Context& context_;
  ir::Operation* op_;
  std::array<Side, 2> sides_;
  std::vector<ir::Value*> leaves_[2];
};

}  // namespace

void join_branches(Context& context, ir::Operation* op, State on_true, State on_false,
                   bool is_tail) {
  ir::Region* outer = op->parent();
  Joiner joiner(context, op, on_true, on_false);
  State joined;
  joined.dead = on_true.dead && on_false.dead;
  joined.variables.resize(on_true.variables.size());
  for (size_t i = 0; !is_tail && i < joined.variables.size(); ++i)
    joined.variables[i] =
        joiner.join(on_true.variables[i], on_false.variables[i], context.frame->function->slots[i]);
  auto flag = [&](const Value& a, const Value& b) {
    return is_tail ? Value::boolean(false) : joiner.join({a, {}}, {b, {}}, "").value;
  };
  joined.returned = flag(on_true.returned, on_false.returned);
  joined.broke = flag(on_true.broke, on_false.broke);
  joined.continued = flag(on_true.continued, on_false.continued);
  // A path without a result has not returned, so nobody looks at the placeholder.
  on_true.dead = on_false.dead = true;
  joined.result = joiner
                      .join({on_true.result, on_true.result_place},
                            {on_false.result, on_false.result_place}, "the result")
                      .value;
  joined.result_place = on_true.result_place.known() ? on_true.result_place : on_false.result_place;
  joiner.finish();
  context.builder.set_insertion_at_end(outer);
  context.state() = std::move(joined);
}

void run_unless_stopped(Context& context, const std::function<void()>& body, bool is_tail) {
  ir::Value* stop = nullptr;
  State& state = context.state();
  for (const Value* flag : {&state.returned, &state.broke, &state.continued}) {
    if (!flag->is_runtime()) continue;
    stop = stop ? context.builder.create(ir::Opcode::kOr, {stop, flag->ssa}) : flag->ssa;
  }
  ir::Value* go = context.builder.create(ir::Opcode::kNot, {stop});
  ir::Operation* op = context.builder.if_else(go, {});
  State stopped = state;
  stopped.dead = true;
  context.builder.set_insertion_at_end(op->region(0));
  state.returned = state.broke = state.continued = Value::boolean(false);
  state.result = Value();
  body();
  State gone_on = std::move(context.state());
  join_branches(context, op, std::move(gone_on), std::move(stopped), is_tail);
}

void run_guarded(Context& context, Block rest, bool is_tail) {
  if (rest.empty()) return;
  run_unless_stopped(context, [&] { run_block(context, rest, is_tail); }, is_tail);
}

bool run_if(Context& context, const Node& node, Block rest, bool is_tail) {
  Value chosen = evaluate_condition(context, *node.first);
  if (chosen.is_constant()) {
    const std::vector<const Node*>& branch = chosen.is_true() ? node.items : node.more;
    run_block(context, branch, is_tail && rest.empty());
    return false;
  }
  context.at(node);
  ir::Operation* op = context.builder.if_else(chosen.ssa, {});
  State before = context.state();
  bool tail = is_tail && rest.empty();
  context.builder.set_insertion_at_end(op->region(0));
  run_block(context, node.items, tail);
  State on_true = std::move(context.state());
  context.builder.set_insertion_at_end(op->region(1));
  context.state() = std::move(before);
  run_block(context, node.more, tail);
  // Only one branch goes on: what follows belongs to it alone.
  bool consumed = on_true.dead != context.state().dead && !rest.empty();
  if (consumed) {
    State on_false = std::move(context.state());
    bool into_else = on_true.dead;
    context.state() = std::move(into_else ? on_false : on_true);
    context.builder.set_insertion_at_end(op->region(into_else ? 1 : 0));
    if (has_pending_flag(context.state()))
      run_guarded(context, rest, is_tail);
    else
      run_block(context, rest, is_tail);
    (into_else ? on_false : on_true) = std::move(context.state());
    context.state() = std::move(on_false);
  }
  State on_false = std::move(context.state());
  context.at(node);
  join_branches(context, op, std::move(on_true), std::move(on_false),
                is_tail && (consumed || tail));
  return consumed;
}

}  // namespace enceladus::frontend
