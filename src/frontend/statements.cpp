#include "frontend/statements.h"

#include "frontend/arithmetic.h"
#include "frontend/evaluate.h"
#include "frontend/names.h"
#include "support/check.h"

namespace enceladus::frontend {
namespace {

void run_assignment(Context& context, const Node& node) {
  Value value = evaluate(context, *node.first);
  for (const Node* target : node.items) assign(context, *target, value);
}

void run_augmented_assignment(Context& context, const Node& node) {
  if (node.first->kind != NodeKind::kName) refuse_target(context, *node.first);
  Value old = read_name(context, *node.first);
  Value amount = evaluate(context, *node.second);
  context.at(node);
  assign(context, *node.first, binary(context, node.op, old, amount));
}

bool names_constexpr(const Node& annotation) {
  bool is_text = annotation.object.is_valid() && PyUnicode_Check(annotation.object.ptr());
  if (!is_text) return false;
  std::string_view text = nb::cast<std::string_view>(annotation.object);
  return text == "constexpr" || text.ends_with(".constexpr");
}

void run_annotated_assignment(Context& context, const Node& node) {
  if (!node.second) return;
  Value value = evaluate(context, *node.second);
  if (names_constexpr(*node.third) && !value.is_constant()) {
    std::string name = node.first->kind == NodeKind::kName
                           ? nb::cast<std::string>(node.first->object)
                           : "the target";
    context.fail_at(*node.second, DiagnosticId::kConstexprVariable, {name, describe(value)});
  }
  assign(context, *node.first, value);
}

void run_return(Context& context, const Node& node) {
  State& state = context.state();
  state.result = node.first ? evaluate(context, *node.first) : Value::none();
  state.result_place = context.place_of(node);
  state.returned = Value::boolean(true);
  state.dead = true;
  if (context.frame->caller || state.result.is_none()) return;
  context.fail_at(node, DiagnosticId::kKernelReturnsValue, {context.frame->function->name});
}

void forget_targets(Context& context, const Node& target) {
  for (const Node* item : target.items) forget_targets(context, *item);
  if (target.kind != NodeKind::kName) return;
  Variable& variable = context.state().variables[static_cast<size_t>(target.slot)];
  variable.value = Value::unusable(
      {DiagnosticId::kNotAssignedYet, {nb::cast<std::string>(target.object)}, {}, true});
  variable.assigned = context.place_of(target);
}

void run_plain_statement(Context& context, const Node& node) {
  switch (node.kind) {
    case NodeKind::kAssign:
      return run_assignment(context, node);
    case NodeKind::kAugAssign:
      return run_augmented_assignment(context, node);
    case NodeKind::kAnnAssign:
      return run_annotated_assignment(context, node);
    default:
      evaluate(context, *node.first);
  }
}

// A statement of the kernel that fails leaves its variables without a value, and what reads them
// is skipped without a word: each mistake is reported once, and so are those behind it.
void run_recoverable(Context& context, const Node& node) {
  Frame* frame = context.frame;
  if (frame->caller) return run_plain_statement(context, node);
  ir::Region* region = context.builder.region();
  try {
    return run_plain_statement(context, node);
  } catch (const CompilationFailure& failure) {
    context.collect(failure);
  } catch (const AlreadyReported&) {
    // Its error has been collected.
  }
  context.frame = frame;
  context.builder.set_insertion_at_end(region);
  bool has_list = node.kind == NodeKind::kAssign;
  if (node.kind != NodeKind::kExpressionStatement && !has_list)
    forget_targets(context, *node.first);
  for (const Node* target : node.items) forget_targets(context, *target);
}

// True where the rest of the block has been run.
bool run_statement(Context& context, const Node& node, Block rest, bool is_tail) {
  context.at(node);
  switch (node.kind) {
    case NodeKind::kAssign:
    case NodeKind::kAugAssign:
    case NodeKind::kAnnAssign:
    case NodeKind::kExpressionStatement:
      run_recoverable(context, node);
      return false;
    case NodeKind::kIf:
      return run_if(context, node, rest, is_tail);
    case NodeKind::kFor:
      run_for(context, node);
      return false;
    case NodeKind::kWhile:
      run_while(context, node);
      return false;
    case NodeKind::kReturn:
      run_return(context, node);
      return false;
    case NodeKind::kBreak:
      context.state().broke = Value::boolean(true);
      context.state().dead = true;
      return false;
    case NodeKind::kContinue:
      context.state().continued = Value::boolean(true);
      context.state().dead = true;
      return false;
    case NodeKind::kPass:
      return false;
    default:
      refuse(context, node);
  }
}

struct Construct {
  std::string_view python_class, text, hint;
};

// What users write for the classes of `ast` that kernels lack, and what to do instead.
constexpr Construct kConstructs[] = {
    {"Try", "`try`", "check with `tl.device_assert`, or before the launch"},
    {"TryStar", "`try`", "check with `tl.device_assert`, or before the launch"},
    {"Raise", "`raise`", "use `tl.static_assert` at compile time, `tl.device_assert` at run time"},
    {"With", "`with`", "take it out of the kernel"},
    {"FunctionDef", "a nested function",
     "define it outside of the kernel and decorate it with `@enceladus.jit`"},
    {"ClassDef", "a class", "define it outside of the kernel"},
    {"Lambda", "`lambda`",
     "define a function outside of the kernel and decorate it with `@enceladus.jit`"},
    {"Delete", "`del`", "leave it out: a variable ends with the kernel"},
    {"Global", "`global`", "a kernel reads globals as constants and cannot assign them"},
    {"Nonlocal", "`nonlocal`", "a kernel reads outer variables as constants only"},
    {"Import", "`import`", "import at the top of the module"},
    {"ImportFrom", "`import`", "import at the top of the module"},
    {"Dict", "a dict", "use a tuple, or build the dict outside of the kernel"},
    {"DictComp", "a dict", "use a tuple, or build the dict outside of the kernel"},
    {"Set", "a set", "use a tuple"},
    {"SetComp", "a set", "use a tuple"},
    {"Match", "`match`", "use `if` and `elif`"},
    {"Yield", "`yield`", "store results in an array"},
    {"YieldFrom", "`yield`", "store results in an array"},
    {"Await", "`await`", "a kernel has no coroutines"},
};

Construct construct_of(std::string_view python_class) {
  for (const Construct& construct : kConstructs)
    if (construct.python_class == python_class) return construct;
  return {python_class, python_class, "use assignments, `if`, `for`, `while` and calls"};
}

}  // namespace

void run_block(Context& context, Block block, bool is_tail) {
  for (size_t i = 0; i < block.size(); ++i) {
    Block rest = block.subspan(i + 1);
    bool consumed = run_statement(context, *block[i], rest, is_tail);
    if (consumed || context.state().dead) return;
    if (!has_pending_flag(context.state())) continue;
    run_guarded(context, rest, is_tail);
    return;
  }
}

void refuse(Context& context, const Node& node) {
  context.at(node);
  switch (node.kind) {
    case NodeKind::kAssert:
      context.fail(DiagnosticId::kAssertStatement);
    case NodeKind::kSlice:
      context.fail(DiagnosticId::kSliceOfTile);
    case NodeKind::kUnsupported: {
      std::string name = nb::cast<std::string>(node.object);
      Construct construct = construct_of(name);
      context.fail(DiagnosticId::kUnsupportedPython,
                   {std::string(construct.text), std::string(construct.hint)});
    }
    default:
      context.fail(DiagnosticId::kUnsupportedPython, {"this expression", "take it apart"});
  }
}

void refuse_target(Context& context, const Node& target) {
  if (target.kind == NodeKind::kSubscript) context.fail_at(target, DiagnosticId::kItemAssignment);
  if (target.kind == NodeKind::kAttribute)
    context.fail_at(target, DiagnosticId::kAttributeAssignment,
                    {nb::cast<std::string>(target.object)});
  context.fail_at(target, DiagnosticId::kStarredTarget);
}

void assign(Context& context, const Node& target, const Value& value) {
  if (target.kind == NodeKind::kName) {
    Variable& variable = context.state().variables[static_cast<size_t>(target.slot)];
    variable.value = value;
    variable.assigned = context.place_of(target);
    if (value.is_runtime() && value.ssa->name().empty() && value.ssa->definition())
      value.ssa->set_name(nb::cast<std::string_view>(target.object));
    return;
  }
  if (target.kind != NodeKind::kTuple && target.kind != NodeKind::kList)
    refuse_target(context, target);
  for (const Node* item : target.items)
    if (item->kind == NodeKind::kStarred) refuse_target(context, *item);
  std::optional<std::vector<Value>> elements = elements_of(value);
  if (!elements) context.fail_at(target, DiagnosticId::kNotATuple, {describe(value)});
  if (elements->size() != target.items.size())
    context.fail_at(target, DiagnosticId::kUnpackCount,
                    {std::to_string(target.items.size()), std::to_string(elements->size())});
  for (size_t i = 0; i < elements->size(); ++i) assign(context, *target.items[i], (*elements)[i]);
}

}  // namespace enceladus::frontend
