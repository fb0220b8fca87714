// What an expression of a kernel stands for while it is compiled: an SSA value, a compile-time
// Python object, a tuple, a tensor descriptor, or nothing usable (with the reason). Not here: how
// values are computed (evaluate.h, arithmetic.h).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/ir.h"
#include "support/diagnostics.h"

namespace enceladus::frontend {

namespace nb = nanobind;

struct Value;

// A tensor descriptor and what it was made from.
struct DescriptorParts {
  ir::Value* base = nullptr;
  std::vector<ir::Value*> sizes;
  std::vector<ir::Value*> strides;
  bool pads_with_nan = false;
};

// Why a variable cannot be read: the message to give and the values for it.
struct Unusable {
  DiagnosticId id;
  std::vector<std::string> values;
  Location defined;       // where it got a value, for a note
  bool reported = false;  // its computation has failed with an error of its own
};

struct Value {
  enum class Kind : uint8_t {
    kUndefined,   // a variable before its first assignment
    kConstant,    // object
    kRuntime,     // ssa: a scalar or a tile
    kTuple,       // elements, at least one of them not constant
    kDescriptor,  // ssa and parts
    kUnusable,    // reason
  };
  Kind kind = Kind::kUndefined;
  ir::Value* ssa = nullptr;
  nb::object object;
  std::variant<std::monostate, std::shared_ptr<const std::vector<Value>>,
               std::shared_ptr<const DescriptorParts>, std::shared_ptr<const Unusable>>
      detail;

  // Out of line, as they are large and used everywhere.
  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  static Value constant(nb::object object);
  static Value runtime(ir::Value* ssa);
  // A constant Python tuple where every element is constant.
  static Value tuple(std::vector<Value> elements);
  static Value descriptor(ir::Value* ssa, DescriptorParts parts);
  static Value unusable(Unusable reason);
  bool is_reported() const { return is(Kind::kUnusable) && reason().reported; }
  static Value none();
  static Value boolean(bool value);

  bool is(Kind other) const { return kind == other; }
  bool is_constant() const { return kind == Kind::kConstant; }
  bool is_runtime() const { return kind == Kind::kRuntime; }
  bool is_tuple() const { return kind == Kind::kTuple; }
  bool is_descriptor() const { return kind == Kind::kDescriptor; }
  bool is_none() const { return is_constant() && object.is_none(); }
  bool is_true() const { return is_constant() && object.ptr() == Py_True; }
  bool is_false() const { return is_constant() && object.ptr() == Py_False; }
  const ir::Type& type() const { return ssa->type(); }
  const std::vector<Value>& elements() const {
    return *std::get<std::shared_ptr<const std::vector<Value>>>(detail);
  }
  const DescriptorParts& parts() const {
    return *std::get<std::shared_ptr<const DescriptorParts>>(detail);
  }
  const Unusable& reason() const { return *std::get<std::shared_ptr<const Unusable>>(detail); }
};

// Equal without looking at run time: the same SSA value, or constants that no program can tell
// apart (equal type and value, signed zeros and NaN told apart).
bool is_same(const Value& a, const Value& b);

// A tuple's or a constant sequence's elements; nothing where the value is neither.
std::optional<std::vector<Value>> elements_of(const Value& value);

// For messages: `float32[64, 32]`, `the constant 3`, `a tuple of 2`.
std::string describe(const Value& value);

// How a shape is written in messages: `(64, 32)`, `(64,)`, `()`.
std::string shape_text(std::span<const int64_t> shape);

}  // namespace enceladus::frontend
