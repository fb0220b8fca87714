// The table of `tl` functions (declared in frontend/functions.h).
#include "frontend/functions.h"

#include <unordered_map>

#include "frontend/names.h"
#include "support/check.h"

namespace enceladus::frontend {
namespace {

constexpr FunctionDefinition kDefinitions[] = {
#define FUNCTION(id, name, methods, descriptor_method, signature) \
  {FunctionId::k##id, #name, methods, descriptor_method, signature},
#include "frontend/functions.def"
#undef FUNCTION
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Parts between separators; quotes and parentheses of defaults hold none.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

Value default_of(std::string_view text) {
  nb::object language = known().language;
  if (text == "None") return Value::none();
  if (text == "True" || text == "False") return Value::boolean(text == "True");
  if (text == "()") return Value::constant(nb::tuple());
  if (text == "0") return Value::constant(nb::int_(0));
  if (text == "'\\n'") return Value::constant(nb::str("\n"));
  if (text.front() == '\'') return Value::constant(nb::str(text.data() + 1, text.size() - 2));
  nb::object object = language;
  for (std::string_view part : split(text, '.')) object = object.attr(std::string(part).c_str());
  return Value::constant(object);
}

FunctionParameter parameter_of(std::string_view text, bool keyword_only) {
  FunctionParameter parameter;
  parameter.keyword_only = keyword_only;
  size_t equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  parameter.variadic = name.front() == '*';
  if (parameter.variadic) name.remove_prefix(1);
  parameter.name = name;
  parameter.python_name = PyUnicode_InternFromString(parameter.name.c_str());
  parameter.has_default = equals != std::string_view::npos;
  if (parameter.has_default) parameter.default_value = default_of(text.substr(equals + 1));
  return parameter;
}

FunctionRecord record_of(const FunctionDefinition& definition) {
  FunctionRecord record{definition.id, std::string(definition.name), definition.signature, {}};
  bool behind_variadic = false;
  for (std::string_view text : split(definition.signature, ',')) {
    record.parameters.push_back(parameter_of(text, behind_variadic));
    behind_variadic |= record.parameters.back().variadic;
  }
  return record;
}

using MethodTable = std::unordered_map<std::string_view, FunctionId>;

MethodTable method_table(bool of_descriptor) {
  MethodTable table;
  for (const FunctionDefinition& definition : kDefinitions)
    for (std::string_view name :
         split(of_descriptor ? definition.descriptor_method : definition.methods, ' '))
      table[name] = definition.id;
  return table;
}

const MethodTable& methods(bool of_descriptor) {
  static const MethodTable* tiles = new MethodTable(method_table(false));
  static const MethodTable* descriptors = new MethodTable(method_table(true));
  return of_descriptor ? *descriptors : *tiles;
}

std::optional<FunctionId> find_method(std::string_view name, bool of_descriptor) {
  auto it = methods(of_descriptor).find(name);
  return it == methods(of_descriptor).end() ? std::nullopt : std::optional(it->second);
}

std::optional<FunctionId> id_of_name(std::string_view name) {
  for (const FunctionDefinition& definition : kDefinitions)
    if (definition.name == name) return definition.id;
  return std::nullopt;
}

}  // namespace

std::span<const FunctionDefinition> function_definitions() { return kDefinitions; }

const FunctionRecord& function_record(FunctionId id) {
  // Records are made when they are first asked for: a kernel uses few.
  static auto* records = new std::unordered_map<int, FunctionRecord>();
  auto it = records->find(static_cast<int>(id));
  if (it == records->end())
    it = records->emplace(static_cast<int>(id), record_of(kDefinitions[static_cast<size_t>(id)]))
             .first;
  return it->second;
}

std::optional<FunctionId> function_of(nb::handle object) {
  // The stubs live as long as the language module, so their addresses are theirs for good.
  static auto* known_objects = new std::unordered_map<PyObject*, FunctionId>();
  auto it = known_objects->find(object.ptr());
  if (it != known_objects->end()) return it->second;
  PyObject* name = PyObject_GetAttr(object.ptr(), names().enc_builtin);
  if (!name) {
    PyErr_Clear();
    return std::nullopt;
  }
  nb::object owned = nb::steal(name);
  if (!PyUnicode_Check(name)) return std::nullopt;
  std::optional<FunctionId> id = id_of_name(nb::cast<std::string_view>(owned));
  if (id) (*known_objects)[nb::borrow(object).release().ptr()] = *id;
  return id;
}

std::optional<FunctionId> tile_method(std::string_view name) { return find_method(name, false); }
std::optional<FunctionId> descriptor_method(std::string_view name) {
  return find_method(name, true);
}

nb::object helper_method(std::string_view name) {
  nb::module_ registry = nb::module_::import_("enceladus.language._registry");
  nb::object registered = registry.attr("TILE_METHODS").attr("get")(std::string(name));
  if (registered.is_none()) return {};
  nb::object helper = registry.attr("HELPERS").attr("get")(registered);
  return helper.is_none() ? nb::object() : helper;
}

std::vector<std::string> method_names(bool of_descriptor) {
  std::vector<std::string> result;
  for (const auto& entry : methods(of_descriptor)) result.emplace_back(entry.first);
  return result;
}

}  // namespace enceladus::frontend
