#include "frontend/ast.h"

#include <unordered_map>

#include "frontend/names.h"
#include "support/check.h"

namespace enceladus::frontend {
namespace {

constexpr std::string_view kSymbols[] = {
#define OPERATOR(name, python, symbol) symbol,
#include "frontend/operators.def"
#undef OPERATOR
};

constexpr int kFields = 6;
struct NodeRecord {
  const char* python_class;
  const char* fields[kFields];
};
constexpr NodeRecord kRecords[] = {
#define NODE(name, python, first, second, third, items, more, object) \
  {#python, {#first, #second, #third, #items, #more, #object}},
#include "frontend/nodes.def"
#undef NODE
};
constexpr const char* kOperatorClasses[] = {
#define OPERATOR(name, python, symbol) #python,
#include "frontend/operators.def"
#undef OPERATOR
};

// The classes of the `ast` module by type object, and the fields' names as Python strings.
struct AstClasses {
  std::unordered_map<PyTypeObject*, NodeKind> kinds;
  std::unordered_map<PyTypeObject*, Operator> operators;
  PyObject* fields[std::size(kRecords)][kFields];

  AstClasses() {
    nb::module_ module = nb::module_::import_("ast");
    auto type = [&](const char* name) {
      return reinterpret_cast<PyTypeObject*>(nb::object(module.attr(name)).release().ptr());
    };
    for (size_t i = 0; i < std::size(kRecords); ++i) {
      kinds[type(kRecords[i].python_class)] = static_cast<NodeKind>(i);
      for (int k = 0; k < kFields; ++k) {
        std::string_view field = kRecords[i].fields[k];
        fields[i][k] = field == "none" ? nullptr : PyUnicode_InternFromString(field.data());
      }
    }
    for (size_t i = 0; i < std::size(kOperatorClasses); ++i)
      operators[type(kOperatorClasses[i])] = static_cast<Operator>(i);
  }
};

const AstClasses& classes() {
  static const AstClasses* instance = new AstClasses();
  return *instance;
}

nb::object field(nb::handle node, PyObject* name) {
  PyObject* value = PyObject_GetAttr(node.ptr(), name);
  if (!value) throw nb::python_error();
  return nb::steal(value);
}

int32_t int_field(nb::handle node, PyObject* name) {
  return static_cast<int32_t>(PyLong_AsLong(field(node, name).ptr()));
}

struct SourcePlace {
  const std::string* file;
  int32_t first_line;
  int32_t indent;
};

class Converter {
 public:
  Converter(ParsedFunction& function, SourcePlace place) : function_(function), place_(place) {}

  const Node* convert(nb::handle ast) {
    if (ast.is_none()) return nullptr;
    Node& node = function_.nodes.emplace_back();
    auto it = classes_.kinds.find(Py_TYPE(ast.ptr()));
    node.location = location(ast);
    if (it == classes_.kinds.end()) {
      node.object = nb::object(ast.type().attr("__name__"));
      return &node;
    }
    node.kind = it->second;
    PyObject* const* fields = classes_.fields[static_cast<size_t>(node.kind)];
    if (fields[0]) node.first = convert(field(ast, fields[0]));
    if (fields[1]) node.second = convert(field(ast, fields[1]));
    if (fields[2]) node.third = convert(field(ast, fields[2]));
    if (fields[3]) convert_list(field(ast, fields[3]), node.items);
    if (fields[4]) convert_list(field(ast, fields[4]), node.more);
    if (fields[5]) node.object = field(ast, fields[5]);
    read_the_rest(ast, node);
    return &node;
  }

  void convert_list(nb::handle list, std::vector<const Node*>& out) {
    for (nb::handle item : nb::borrow<nb::list>(list)) out.push_back(convert(item));
  }

 private:
  void read_the_rest(nb::handle ast, Node& node) {
    switch (node.kind) {
      case NodeKind::kBinaryOperation:
      case NodeKind::kUnaryOperation:
      case NodeKind::kBooleanOperation:
      case NodeKind::kAugAssign:
        node.op = operator_of(field(ast, names_.op));
        break;
      case NodeKind::kComparison:
        for (nb::handle op : nb::borrow<nb::list>(field(ast, names_.ops)))
          node.operators.push_back(operator_of(op));
        break;
      case NodeKind::kFormattedValue:
        node.conversion = int_field(ast, names_.conversion);
        break;
      case NodeKind::kName:
        node.stores = Py_TYPE(field(ast, names_.ctx).ptr()) == names_.store_class;
        break;
      default:
        break;
    }
  }

  Operator operator_of(nb::handle op) const {
    auto it = classes_.operators.find(Py_TYPE(op.ptr()));
    ENC_CHECK(it != classes_.operators.end(), "unknown Python operator");
    return it->second;
  }

  Location location(nb::handle ast) const {
    Location result{.file = place_.file};
    PyObject* line = PyObject_GetAttr(ast.ptr(), names_.lineno);
    if (!line) {
      PyErr_Clear();  // comprehension and a few others have no place
      return result;
    }
    int32_t first = static_cast<int32_t>(PyLong_AsLong(nb::steal(line).ptr()));
    result.line = first + place_.first_line - 1;
    result.column = int_field(ast, names_.col_offset) + place_.indent + 1;
    if (int_field(ast, names_.end_lineno) == first)
      result.end_column = int_field(ast, names_.end_col_offset) + place_.indent + 1;
    return result;
  }

  ParsedFunction& function_;
  SourcePlace place_;
  const AstClasses& classes_ = classes();
  const Names& names_ = names();
};

bool is_constexpr_annotation(nb::handle annotation) {
  if (annotation.is_none()) return false;
  for (const char* attribute : {"attr", "id", "value"}) {
    if (!nb::hasattr(annotation, attribute)) continue;
    nb::object text = annotation.attr(attribute);
    if (!nb::isinstance<nb::str>(text)) continue;
    std::string_view name = nb::cast<std::string_view>(text);
    return name == "constexpr" || name.ends_with(".constexpr");
  }
  return false;
}

void add_parameter(ParsedFunction& function, nb::handle argument, bool keyword_only,
                   bool positional_only) {
  ParsedParameter parameter;
  parameter.name = nb::cast<std::string>(argument.attr("arg"));
  parameter.slot = static_cast<int32_t>(function.slots.size());
  parameter.is_constexpr = is_constexpr_annotation(argument.attr("annotation"));
  parameter.keyword_only = keyword_only;
  parameter.positional_only = positional_only;
  function.slots.push_back(parameter.name);
  function.parameters.push_back(std::move(parameter));
}

void read_parameters(ParsedFunction& function, nb::handle arguments) {
  for (nb::handle a : nb::borrow<nb::list>(arguments.attr("posonlyargs")))
    add_parameter(function, a, false, true);
  for (nb::handle a : nb::borrow<nb::list>(arguments.attr("args")))
    add_parameter(function, a, false, false);
  size_t positional = function.parameters.size();
  for (nb::handle a : nb::borrow<nb::list>(arguments.attr("kwonlyargs")))
    add_parameter(function, a, true, false);
  nb::object defaults = function.function.attr("__defaults__");
  if (!defaults.is_none()) {
    size_t first = positional - nb::len(defaults);
    for (nb::handle value : nb::borrow<nb::tuple>(defaults))
      function.parameters[first++].default_value = nb::borrow(value);
  }
  nb::object keyword_defaults = function.function.attr("__kwdefaults__");
  if (keyword_defaults.is_none()) return;
  for (ParsedParameter& parameter : function.parameters)
    if (PyObject* value = PyDict_GetItemString(keyword_defaults.ptr(), parameter.name.c_str()))
      parameter.default_value = nb::borrow(value);
}

void read_free_names(ParsedFunction& function) {
  for (nb::handle name : function.function.attr("__code__").attr("co_freevars"))
    function.free_names.push_back(nb::cast<std::string>(name));
}

nb::object parse(const std::string& text, const std::string& file) {
  PyCompilerFlags flags = {PyCF_ONLY_AST, PY_MINOR_VERSION};
  PyObject* tree = Py_CompileStringExFlags(text.c_str(), file.c_str(), Py_file_input, &flags, -1);
  if (!tree) throw nb::python_error();
  return nb::steal(tree);
}

// Text, file, line and indentation: attributes of a JITFunction, looked up for a plain function.
nb::object source_record(nb::handle function, bool is_jit) {
  if (is_jit) return nb::borrow(function);
  return nb::module_::import_("enceladus._source").attr("source_of")(function);
}

std::unique_ptr<ParsedFunction> parse_function(nb::handle object) {
  auto result = std::make_unique<ParsedFunction>();
  bool is_jit = nb::hasattr(object, "fn");
  nb::object record = source_record(object, is_jit);
  // The function object owns what is borrowed here.
  result->function = is_jit ? nb::object(object.attr("fn")) : nb::borrow(object);
  nb::object text = record.attr(is_jit ? "source" : "text");
  result->name = nb::cast<std::string>(object.attr("__name__"));
  result->globals = nb::object(result->function.attr("__globals__"));
  result->is_library = nb::hasattr(object, "_enc_helper");
  std::string file = nb::cast<std::string>(record.attr("filename"));
  SourcePlace place{intern_file(file), nb::cast<int32_t>(record.attr("first_line")),
                    nb::cast<int32_t>(record.attr("indent"))};
  nb::object tree = parse(nb::cast<std::string>(text), file);
  nb::object definition = tree.attr("body")[0];
  read_parameters(*result, definition.attr("args"));
  read_free_names(*result);
  Converter converter(*result, place);
  converter.convert_list(definition.attr("body"), result->body);
  result->location = {place.file,
                      nb::cast<int32_t>(definition.attr("lineno")) + place.first_line - 1,
                      nb::cast<int32_t>(definition.attr("col_offset")) + place.indent + 1, 0};
  resolve_names(*result);
  return result;
}

}  // namespace

std::string_view symbol_of(Operator op) { return kSymbols[static_cast<size_t>(op)]; }

const ParsedFunction& parsed_function(nb::handle function) {
  PyObject* attribute = names().enc_parsed;
  if (PyObject* kept = PyObject_GetAttr(function.ptr(), attribute)) {
    nb::object capsule = nb::steal(kept);
    return *static_cast<const ParsedFunction*>(nb::borrow<nb::capsule>(capsule).data());
  }
  PyErr_Clear();
  std::unique_ptr<ParsedFunction> parsed = parse_function(function);
  const ParsedFunction& result = *parsed;
  nb::capsule capsule(parsed.release(),
                      [](void* data) noexcept { delete static_cast<ParsedFunction*>(data); });
  if (PyObject_SetAttr(function.ptr(), attribute, capsule.ptr()) != 0) throw nb::python_error();
  return result;
}

}  // namespace enceladus::frontend
