#include "frontend/value.h"

#include "frontend/names.h"

namespace enceladus::frontend {

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Value Value::constant(nb::object object) {
  Value value;
  value.kind = Kind::kConstant;
  bool wrapped =
      Py_TYPE(object.ptr()) == reinterpret_cast<PyTypeObject*>(known().constexpr_class.ptr());
  value.object =
      wrapped ? nb::steal(PyObject_GetAttr(object.ptr(), names().value)) : std::move(object);
  return value;
}

Value Value::runtime(ir::Value* ssa) {
  Value value;
  value.kind = Kind::kRuntime;
  value.ssa = ssa;
  return value;
}

Value Value::tuple(std::vector<Value> elements) {
  bool all_constant = true;
  for (const Value& element : elements) all_constant = all_constant && element.is_constant();
  Value value;
  if (all_constant) {
    PyObject* object = PyTuple_New(static_cast<Py_ssize_t>(elements.size()));
    for (size_t i = 0; i < elements.size(); ++i)
      PyTuple_SET_ITEM(object, static_cast<Py_ssize_t>(i), elements[i].object.inc_ref().ptr());
    value.kind = Kind::kConstant;
    value.object = nb::steal(object);
    return value;
  }
  value.kind = Kind::kTuple;
  value.detail = std::make_shared<const std::vector<Value>>(std::move(elements));
  return value;
}

Value Value::descriptor(ir::Value* ssa, DescriptorParts parts) {
  Value value;
  value.kind = Kind::kDescriptor;
  value.ssa = ssa;
  value.detail = std::make_shared<const DescriptorParts>(std::move(parts));
  return value;
}

Value Value::unusable(Unusable reason) {
  Value value;
  value.kind = Kind::kUnusable;
  value.detail = std::make_shared<const Unusable>(std::move(reason));
  return value;
}

Value Value::none() { return constant(nb::none()); }
Value Value::boolean(bool value) { return constant(nb::borrow(value ? Py_True : Py_False)); }

namespace {

bool same_constants(nb::handle a, nb::handle b) {
  if (a.is(b)) return true;
  if (!a.type().is(b.type())) return false;
  if (PyFloat_Check(a.ptr())) {
    // repr tells signed zeros apart and NaN equal to itself.
    return nb::repr(a).equal(nb::repr(b));
  }
  if (PyTuple_Check(a.ptr())) {
    if (PyTuple_GET_SIZE(a.ptr()) != PyTuple_GET_SIZE(b.ptr())) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a.ptr()); ++i)
      if (!same_constants(PyTuple_GET_ITEM(a.ptr(), i), PyTuple_GET_ITEM(b.ptr(), i))) return false;
    return true;
  }
  bool plain =
      PyLong_Check(a.ptr()) || PyUnicode_Check(a.ptr()) || nb::isinstance(a, known().dtype_class);
  return plain && a.equal(b);
}

}  // namespace

bool is_same(const Value& a, const Value& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Value::Kind::kUndefined:
      return true;
    case Value::Kind::kConstant:
      return same_constants(a.object, b.object);
    case Value::Kind::kRuntime:
    case Value::Kind::kDescriptor:
      return a.ssa == b.ssa;
    case Value::Kind::kUnusable:
      return a.detail == b.detail;
    case Value::Kind::kTuple:
      break;
  }
  if (a.elements().size() != b.elements().size()) return false;
  for (size_t i = 0; i < a.elements().size(); ++i)
    if (!is_same(a.elements()[i], b.elements()[i])) return false;
  return true;
}

std::optional<std::vector<Value>> elements_of(const Value& value) {
  if (value.is_tuple()) return value.elements();
  if (!value.is_constant()) return std::nullopt;
  if (!PyTuple_Check(value.object.ptr()) && !PyList_Check(value.object.ptr())) return std::nullopt;
  std::vector<Value> result;
  for (nb::handle item : value.object) result.push_back(Value::constant(nb::borrow(item)));
  return result;
}

namespace {

constexpr size_t kLongestRepr = 60;

std::string describe_constant(nb::handle object) {
  if (object.is_none()) return "None";
  if (nb::isinstance(object, known().dtype_class))
    return "the dtype `" + nb::cast<std::string>(nb::repr(object)) + "`";
  if (PyModule_Check(object.ptr()) || PyType_Check(object.ptr()) ||
      PyCallable_Check(object.ptr())) {
    const char* kind = PyModule_Check(object.ptr()) ? "the module `"
                       : PyType_Check(object.ptr()) ? "the class `"
                                                    : "the function `";
    if (nb::hasattr(object, "__name__"))
      return kind + nb::cast<std::string>(object.attr("__name__")) + "`";
  }
  std::string text = nb::cast<std::string>(nb::repr(object));
  if (text.size() > kLongestRepr)
    return "a value of type `" + nb::cast<std::string>(object.type().attr("__name__")) + "`";
  return "the constant " + text;
}

}  // namespace

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kUndefined:
    case Value::Kind::kUnusable:
      return "nothing";
    case Value::Kind::kConstant:
      return describe_constant(value.object);
    case Value::Kind::kRuntime:
    case Value::Kind::kDescriptor:
      return to_user_string(value.type());
    case Value::Kind::kTuple:
      return "a tuple of " + std::to_string(value.elements().size());
  }
  return {};
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string result = "(";
  for (size_t i = 0; i < shape.size(); ++i) result += (i ? ", " : "") + std::to_string(shape[i]);
  return result + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace enceladus::frontend
