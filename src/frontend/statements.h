// Statements: control flow on compile-time and run-time conditions. Run-time control flow becomes
// structured IR; `break`, `continue` and early `return` become flags (State) and the statements
// behind them move under the flags' negation.
#pragma once

#include <functional>
#include <span>

#include "frontend/context.h"

namespace enceladus::frontend {

// Whether a `return`, `break` or `continue` may have been reached, known at run time only.
inline bool has_pending_flag(const State& state) {
  return state.returned.is_runtime() || state.broke.is_runtime() || state.continued.is_runtime();
}

using Block = std::span<const Node* const>;

// `is_tail`: nothing of the function comes behind the block, so variables need not be merged.
void run_block(Context& context, Block block, bool is_tail);

// `rest` is what follows in the same block. True where the statement has run it already (in the
// one branch that goes on).
bool run_if(Context& context, const Node& node, Block rest, bool is_tail);
// The rest of a block behind a statement that may have set flags.
void run_guarded(Context& context, Block rest, bool is_tail);
// Runs `body` where no flag is set; at least one of them is known only at run time.
void run_unless_stopped(Context& context, const std::function<void()>& body, bool is_tail);

void run_for(Context& context, const Node& node);
void run_while(Context& context, const Node& node);

// Joins the states of an `if`'s two regions: values that differ become results of `op`, which gets
// its yields. Leaves the builder behind `op` and the joined state in the frame.
void join_branches(Context& context, ir::Operation* op, State then_state, State else_state,
                   bool is_tail);

// The elements of a compile-time iterable; nothing for run-time values.
std::optional<std::vector<Value>> iterable_elements(Context& context, const Value& value);

// For Python that the language does not have: names the construct and says what to do.
[[noreturn]] void refuse(Context& context, const Node& node);

// The same for what stands left of `=` and is no variable.
[[noreturn]] void refuse_target(Context& context, const Node& target);

// --- values across control flow (carried.cpp) ---

// A value as it lives across run-time control flow: numbers become SSA values of their default
// type; what cannot (None, strings, functions) stays as it is.
Value as_carried(Context& context, const Value& value);
// Appends the SSA values in `value`, in order.
void flatten(const Value& value, std::vector<ir::Value*>& leaves);
// The same value around other SSA values, taken from `leaves` starting at `next`.
Value rebuild(const Value& like, std::span<ir::Value* const> leaves, size_t& next);
// `value` with literals converted to the types in `like`; nothing where types, shapes, structure or
// constants differ.
std::optional<Value> conformed(Context& context, const Value& value, const Value& like);
// A value of the same type that is never looked at.
std::optional<Value> placeholder(Context& context, const Value& like);

}  // namespace enceladus::frontend
