// What every part of the frontend shares while one kernel is compiled: the builder, the variables
// of the functions being inlined, the dependencies, and how errors are raised.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/frontend.h"
#include "frontend/value.h"
#include "ir/builder.h"

namespace enceladus::frontend {

struct Variable {
  Value value;
  Location assigned;
};

// What differs between the branches of a run-time condition. A flag is the constant False, the
// constant True, or an int1 scalar where a run-time condition decides.
struct State {
  std::vector<Variable> variables;  // by slot
  Value returned = Value::boolean(false);
  Value broke = Value::boolean(false);
  Value continued = Value::boolean(false);
  Value result;  // of the `return`s so far
  Location result_place;
  bool dead = false;  // nothing behind this point can run
};

// One function being compiled: the kernel, or a helper inlined at a call.
struct Frame {
  const ParsedFunction* function = nullptr;
  Frame* caller = nullptr;
  uint32_t call_site = 0;
  Location called_from;  // for frames of the library: the user's place stands for its own
  State state;
};

// Thrown where something is read whose computation has failed: there is nothing new to say.
class AlreadyReported : public std::exception {};

class Context {
 public:
  Context(ir::Function& function, std::vector<Dependency>& dependencies)
      : builder(function), dependencies_(dependencies) {}

  ir::Builder builder;
  Frame* frame = nullptr;

  State& state() { return frame->state; }
  // Operations and errors belong to `node` from now on.
  void at(const Node& node) { builder.set_location(place_of(node), frame->call_site); }
  // The place that the user should look at: the node's, or the call's inside the library.
  const Location& place_of(const Node& node) const {
    return frame->function->is_library ? frame->called_from : node.location;
  }

  // Errors at the current place, with the calls that led there.
  [[noreturn]] void fail(DiagnosticId id, std::initializer_list<std::string> values = {});
  [[noreturn]] void fail_at(const Location& place, DiagnosticId id,
                            std::initializer_list<std::string> values = {});
  [[noreturn]] void fail_at(const Node& node, DiagnosticId id,
                            std::initializer_list<std::string> values = {}) {
    fail_at(place_of(node), id, values);
  }
  [[noreturn]] void fail(Diagnostic diagnostic);
  // Turns a Python exception raised by a compile-time expression into an error at the current
  // place; anything that is no `Exception` (KeyboardInterrupt) goes on as it is.
  [[noreturn]] void fail_in_python(const std::string& what);

  // Errors of statements that the rest of the kernel could do without. Throws when there are many.
  void collect(const CompilationFailure& failure);
  // Throws all that was collected.
  void throw_collected() const;

  void depend_on(nb::handle owner, std::string_view name, nb::handle value);

 private:
  std::vector<Dependency>& dependencies_;
  std::vector<Diagnostic> errors_;
};

// The name among `candidates` that is closest to `name`, quoted for a hint, or an empty string.
std::string closest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace enceladus::frontend
