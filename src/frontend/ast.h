// A user's function as a tree of plain structs: Python's own `ast`, read once per function and kept
// with it, so that compiling again touches no Python attribute of the tree. Names of the function
// are slots already. Not here: any meaning (evaluate.h, statements.h).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.h"

namespace enceladus::frontend {

namespace nb = nanobind;

enum class NodeKind : uint8_t {
#define NODE(name, ...) k##name,
#include "frontend/nodes.def"
#undef NODE
  kUnsupported,  // object holds the name of the Python class
};

enum class Operator : uint8_t {
#define OPERATOR(name, python, symbol) k##name,
#include "frontend/operators.def"
#undef OPERATOR
};
std::string_view symbol_of(Operator op);

// How a statement may leave before its end. Breaks and continues of a loop inside it count not.
enum Escape : uint8_t { kReturns = 1, kBreaks = 2, kContinues = 4 };

struct Node {
  NodeKind kind = NodeKind::kUnsupported;
  Operator op = Operator::kAdd;  // of binary, unary and boolean operations and AugAssign
  uint8_t escapes = 0;           // of statements, a set of Escape
  bool stores = false;           // of a name: assigned here
  int32_t slot = -1;             // of a name: the variable, or -1 for a name from outside
  int32_t conversion = -1;       // of a formatted value: 'r', 's', 'a' or -1
  Location location;
  const Node* first = nullptr;  // the fields of nodes.def
  const Node* second = nullptr;
  const Node* third = nullptr;
  std::vector<const Node*> items;
  std::vector<const Node*> more;
  nb::object object;
  std::vector<Operator> operators;  // of a comparison
  std::vector<int32_t> assigned;    // of if, for, while: slots that may be assigned inside
};

struct ParsedParameter {
  std::string name;
  int32_t slot = 0;
  bool is_constexpr = false;
  bool keyword_only = false;
  bool positional_only = false;
  nb::object default_value;  // invalid where there is none
};

struct ParsedFunction {
  std::string name;
  // Borrowed: this tree hangs on the function, so owning them would be a cycle that Python's
  // collector cannot see.
  nb::handle function;                  // the raw Python function
  nb::handle globals;                   // its dict
  std::vector<std::string> free_names;  // in the order of `__closure__`
  Location location;
  bool is_library = false;  // of Enceladus itself: messages point to the call
  std::vector<ParsedParameter> parameters;
  std::vector<std::string> slots;  // names of the variables, parameters first
  std::vector<const Node*> body;
  std::deque<Node> nodes;
};

// The tree of a `@jit` function or of a helper of the language (a plain function). Parsed on the
// first call and kept in the object's `_enc_parsed` attribute; lives as long as the object does.
// Throws CompilationFailure for what Python cannot parse.
const ParsedFunction& parsed_function(nb::handle function);

// Resolves names to slots and fills `assigned` and `escapes`.
void resolve_names(ParsedFunction& function);

}  // namespace enceladus::frontend
