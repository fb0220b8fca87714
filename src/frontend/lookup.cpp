// Names, attributes and subscripts (declared in frontend/evaluate.h).
#include "frontend/calls.h"
#include "frontend/evaluate.h"
#include "frontend/functions.h"
#include "frontend/functions_shape.h"
#include "frontend/literals.h"
#include "frontend/names.h"
#include "frontend/statements.h"

namespace enceladus::frontend {
namespace {

std::vector<std::string> visible_names(Context& context) {
  std::vector<std::string> result = context.frame->function->slots;
  for (nb::handle name : nb::borrow<nb::dict>(context.frame->function->globals).keys())
    if (PyUnicode_Check(name.ptr())) result.push_back(nb::cast<std::string>(name));
  return result;
}

std::optional<Value> read_closure(Context& context, const ParsedFunction& function,
                                  std::string_view name) {
  for (size_t i = 0; i < function.free_names.size(); ++i) {
    if (function.free_names[i] != name) continue;
    nb::object cell = function.function.attr("__closure__")[i];
    PyObject* value = PyCell_Get(cell.ptr());
    if (!value) return std::nullopt;
    nb::object owned = nb::steal(value);
    context.depend_on(cell, name, owned);
    return Value::constant(owned);
  }
  return std::nullopt;
}

Value read_outer_name(Context& context, const Node& node) {
  const ParsedFunction& function = *context.frame->function;
  if (!function.free_names.empty()) {
    std::string_view name = nb::cast<std::string_view>(node.object);
    if (std::optional<Value> value = read_closure(context, function, name)) return *value;
  }
  if (PyObject* value = PyDict_GetItemWithError(function.globals.ptr(), node.object.ptr())) {
    if (!function.is_library)
      context.depend_on(function.globals, nb::cast<std::string_view>(node.object), value);
    return Value::constant(nb::borrow(value));
  }
  if (PyObject* value = PyDict_GetItemWithError(known().builtins.ptr(), node.object.ptr()))
    return Value::constant(nb::borrow(value));
  std::string name = nb::cast<std::string>(node.object);
  std::string best = closest(name, visible_names(context));
  context.fail_at(node, DiagnosticId::kUnknownName,
                  {name, best.empty() ? "define it, or pass it as a `tl.constexpr` argument"
                                      : "did you mean `" + best + "`?"});
}

Value tuple_of_values(std::span<ir::Value* const> values) {
  std::vector<Value> elements;
  for (ir::Value* value : values) elements.push_back(Value::runtime(value));
  return Value::tuple(std::move(elements));
}

Value tuple_of_ints(std::span<const int64_t> values) {
  std::vector<Value> elements;
  for (int64_t value : values) elements.push_back(Value::constant(nb::int_(value)));
  return Value::tuple(std::move(elements));
}

std::optional<Value> runtime_attribute(Context& context, const Value& base, std::string_view name) {
  const ir::Type& type = base.type();
  size_t dtype = static_cast<size_t>(type.dtype());
  if (name == "dtype")
    return Value::constant(type.is_pointer() ? known().pointer_types[dtype]
                                             : known().dtypes[dtype]);
  if (base.is_descriptor()) {
    if (name == "shape") return tuple_of_values(base.parts().sizes);
    if (name == "strides") return tuple_of_values(base.parts().strides);
    if (name == "block_shape") return tuple_of_ints(type.shape());
    return std::nullopt;
  }
  if (name == "shape") return tuple_of_ints(type.shape());
  if (name == "numel") return Value::constant(nb::int_(type.elements()));
  if (name == "T") return transposed(context, base.ssa);
  return std::nullopt;
}

[[noreturn]] void fail_unknown_attribute(Context& context, const Value& base,
                                         std::string_view name) {
  std::vector<std::string> candidates = method_names(base.is_descriptor());
  for (const char* attribute : {"shape", "dtype", "numel", "T", "strides", "block_shape"})
    candidates.push_back(attribute);
  bool is_method =
      base.is_descriptor() ? descriptor_method(name).has_value() : tile_method(name).has_value();
  std::string best = closest(name, candidates);
  std::string hint = is_method      ? "`" + std::string(name) + "` is a method: call it"
                     : best.empty() ? "there are `shape`, `dtype`, `numel` and `T`"
                                    : "did you mean `" + best + "`?";
  context.fail(DiagnosticId::kUnknownMethod, {describe(base), std::string(name), hint});
}

// Modules of Enceladus change with its version alone.
bool is_ours(nb::handle owner) {
  if (owner.is(known().language)) return true;
  if (!PyModule_Check(owner.ptr())) return false;
  std::string name = nb::cast<std::string>(owner.attr("__name__"));
  return name == "enceladus" || name.starts_with("enceladus.");
}

// Attributes whose owner can be asked again: those of modules, classes and other objects of the
// user, where asking twice gives the same object. Numbers, strings and dtypes never change.
void depend_on_attribute(Context& context, nb::handle owner, nb::handle name, nb::handle value) {
  if (context.frame->function->is_library || PyLong_Check(owner.ptr()) ||
      PyFloat_Check(owner.ptr()) || PyUnicode_Check(owner.ptr()) || PyTuple_Check(owner.ptr()) ||
      nb::isinstance(owner, known().dtype_class))
    return;
  if (is_ours(owner)) return;
  nb::object again = nb::steal(PyObject_GetAttr(owner.ptr(), name.ptr()));
  if (!again.is_valid() && !PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();
  if (!again.is_valid()) PyErr_Clear();
  if (again.is(value)) context.depend_on(owner, nb::cast<std::string_view>(name), value);
}

[[noreturn]] void fail_missing_attribute(Context& context, const Value& base, nb::handle name) {
  std::string text = nb::cast<std::string>(name);
  std::vector<std::string> candidates;
  for (nb::handle entry : nb::steal(PyObject_Dir(base.object.ptr())))
    if (PyUnicode_Check(entry.ptr()) && !nb::cast<std::string_view>(entry).starts_with('_'))
      candidates.push_back(nb::cast<std::string>(entry));
  std::string best = closest(text, candidates);
  bool is_language = base.object.is(known().language);
  std::string hint = best.empty() ? (is_language ? "the reference lists the functions of `tl`"
                                                 : "look at its definition")
                                  : "did you mean `" + best + "`?";
  if (is_language) context.fail(DiagnosticId::kUnknownFunction, {text, hint});
  context.fail(DiagnosticId::kUnknownAttribute, {describe(base), text, hint});
}

// --- subscripts ---

bool is_full_slice(const Node& node) {
  return node.kind == NodeKind::kSlice && !node.first && !node.second && !node.third;
}

bool is_constant_node(const Node& node, nb::handle object) {
  return node.kind == NodeKind::kConstant && node.object.is(object);
}

// `x[:, None]`: `:` keeps a dimension, `None` makes one, `...` keeps those that remain.
Value tile_subscript(Context& context, const Value& base, const Node& index) {
  std::vector<const Node*> items =
      index.kind == NodeKind::kTuple ? index.items : std::vector<const Node*>{&index};
  int kept = 0;
  for (const Node* item : items) kept += is_full_slice(*item);
  int rank = base.type().rank();
  std::vector<int64_t> shape;
  int next = 0;
  for (const Node* item : items) {
    if (is_constant_node(*item, nb::none())) {
      shape.push_back(1);
    } else if (is_full_slice(*item) && next < rank) {
      shape.push_back(base.type().extent(next++));
    } else if (is_constant_node(*item, known().ellipsis)) {
      for (int left = rank - kept - next + 0; left > 0 && next < rank; --left)
        shape.push_back(base.type().extent(next++));
    } else if (is_full_slice(*item)) {
      context.fail(DiagnosticId::kTooManyIndices, {describe(base)});
    } else {
      context.fail_at(*item, DiagnosticId::kSliceOfTile);
    }
  }
  while (next < rank) shape.push_back(base.type().extent(next++));
  return with_new_dimensions(context, base.ssa, shape);
}

std::optional<int64_t> slice_bound(Context& context, const Node* node) {
  if (!node) return std::nullopt;
  Value value = evaluate(context, *node);
  std::optional<int64_t> result = constant_int(value);
  if (!result && !value.is_none())
    context.fail_at(*node, DiagnosticId::kConstantNeeded, {"a slice of a tuple", "each bound"});
  return result;
}

nb::object python_slice(Context& context, const Node& node) {
  auto bound = [&](const Node* child) -> nb::object {
    std::optional<int64_t> value = slice_bound(context, child);
    return value ? nb::object(nb::int_(*value)) : nb::object(nb::none());
  };
  nb::object first = bound(node.first), last = bound(node.second), step = bound(node.third);
  return nb::steal(PySlice_New(first.ptr(), last.ptr(), step.ptr()));
}

Value tuple_slice(Context& context, const std::vector<Value>& elements, const Node& node) {
  nb::object slice = python_slice(context, node);
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) < 0) context.fail_in_python("the slice");
  Py_ssize_t count =
      PySlice_AdjustIndices(static_cast<Py_ssize_t>(elements.size()), &start, &stop, step);
  std::vector<Value> result;
  for (Py_ssize_t i = 0; i < count; ++i)
    result.push_back(elements[static_cast<size_t>(start + i * step)]);
  return Value::tuple(std::move(result));
}

Value tuple_subscript(Context& context, const Value& base, const Node& index) {
  if (index.kind == NodeKind::kSlice) return tuple_slice(context, base.elements(), index);
  std::optional<int64_t> position = constant_int(evaluate(context, index));
  if (!position) context.fail_at(index, DiagnosticId::kConstantNeeded, {"a tuple", "its index"});
  int64_t size = static_cast<int64_t>(base.elements().size());
  if (*position < -size || *position >= size)
    context.fail_at(index, DiagnosticId::kTupleIndex,
                    {std::to_string(*position), std::to_string(size)});
  return base.elements()[static_cast<size_t>(*position < 0 ? *position + size : *position)];
}

}  // namespace

void fail_unusable(Context& context, const Value& value, const Location& place) {
  const Unusable& reason = value.reason();
  if (reason.reported) throw AlreadyReported();
  Diagnostic diagnostic = make_diagnostic(reason.id, place, std::span(reason.values));
  if (reason.defined.known()) diagnostic.notes.push_back({reason.defined, "assigned here"});
  context.fail(std::move(diagnostic));
}

Value read_name(Context& context, const Node& node) {
  if (node.slot < 0) return read_outer_name(context, node);
  const Variable& variable = context.state().variables[static_cast<size_t>(node.slot)];
  if (variable.value.is(Value::Kind::kUndefined))
    context.fail_at(node, DiagnosticId::kNotAssignedYet, {nb::cast<std::string>(node.object)});
  if (variable.value.is(Value::Kind::kUnusable))
    fail_unusable(context, variable.value, context.place_of(node));
  return variable.value;
}

Value read_attribute(Context& context, const Node& node) {
  Value base = evaluate(context, *node.first);
  context.at(node);
  return attribute_of(context, base, node.object);
}

Value attribute_of(Context& context, const Value& base, nb::handle name) {
  if (base.is_runtime() || base.is_descriptor()) {
    std::string_view text = nb::cast<std::string_view>(name);
    if (std::optional<Value> value = runtime_attribute(context, base, text)) return *value;
    fail_unknown_attribute(context, base, text);
  }
  if (base.is_tuple())
    context.fail(DiagnosticId::kUnknownAttribute,
                 {describe(base), nb::cast<std::string>(name), "a tuple has no attributes"});
  PyObject* value = PyObject_GetAttr(base.object.ptr(), name.ptr());
  if (!value) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      context.fail_in_python("`." + nb::cast<std::string>(name) + "`");
    PyErr_Clear();
    // `BLOCK.value` of a constexpr, whose value the name stands for already.
    bool unwraps = name.equal(nb::handle(names().value)) && literal_of(context, base.object);
    if (unwraps) return base;
    fail_missing_attribute(context, base, name);
  }
  nb::object owned = nb::steal(value);
  depend_on_attribute(context, base.object, name, owned);
  return Value::constant(owned);
}

Value read_subscript(Context& context, const Node& node) {
  Value base = evaluate(context, *node.first);
  context.at(node);
  if (base.is_runtime()) return tile_subscript(context, base, *node.second);
  if (base.is_tuple()) return tuple_subscript(context, base, *node.second);
  if (!base.is_constant()) context.fail(DiagnosticId::kNotSubscriptable, {describe(base)});
  nb::object index;
  if (node.second->kind == NodeKind::kSlice) {
    index = python_slice(context, *node.second);
  } else {
    Value value = evaluate(context, *node.second);
    if (!value.is_constant())
      context.fail_at(*node.second, DiagnosticId::kConstantNeeded,
                      {"a compile-time object", "its index"});
    index = value.object;
  }
  context.at(node);
  PyObject* result = PyObject_GetItem(base.object.ptr(), index.ptr());
  if (!result) context.fail_in_python("the subscript");
  return Value::constant(nb::steal(result));
}

std::optional<std::vector<Value>> iterable_elements(Context& context, const Value& value) {
  if (value.is_tuple()) return value.elements();
  if (!value.is_constant()) return std::nullopt;
  PyObject* iterator = PyObject_GetIter(value.object.ptr());
  if (!iterator) {
    PyErr_Clear();
    return std::nullopt;
  }
  nb::object owned = nb::steal(iterator);
  std::vector<Value> result;
  while (PyObject* item = PyIter_Next(iterator)) result.push_back(Value::constant(nb::steal(item)));
  if (PyErr_Occurred()) context.fail_in_python("the iteration");
  return result;
}

}  // namespace enceladus::frontend
