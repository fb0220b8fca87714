// The functions of `tl` that the compiler knows: their records, the binding of a call's arguments
// to parameters, and the handlers that turn a call into operations.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/context.h"

namespace enceladus::frontend {

enum class FunctionId : uint8_t {
#define FUNCTION(id, name, methods, descriptor_method, signature) k##id,
#include "frontend/functions.def"
#undef FUNCTION
};

// A record of functions.def as it is written there.
struct FunctionDefinition {
  FunctionId id;
  std::string_view name, methods, descriptor_method, signature;
};
std::span<const FunctionDefinition> function_definitions();

struct FunctionParameter {
  std::string name;
  PyObject* python_name = nullptr;  // interned, immortal
  bool has_default = false;
  bool variadic = false;
  bool keyword_only = false;
  Value default_value;
};

struct FunctionRecord {
  FunctionId id;
  std::string name;  // as users write it, without `tl.`
  std::string_view signature;
  std::vector<FunctionParameter> parameters;
};
const FunctionRecord& function_record(FunctionId id);

// The function that a Python object of the language module stands for.
std::optional<FunctionId> function_of(nb::handle object);
// The function behind a method of tiles and scalars, or of descriptors.
std::optional<FunctionId> tile_method(std::string_view name);
std::optional<FunctionId> descriptor_method(std::string_view name);
// A helper of the language (a plain function) that is a tile method; invalid where there is none.
nb::object helper_method(std::string_view name);
std::vector<std::string> method_names(bool of_descriptor);

struct CallArgument {
  Value value;
  const Node* node = nullptr;  // may be null
};
struct CallArguments {
  std::vector<CallArgument> positional;
  std::vector<std::pair<nb::object, CallArgument>> keywords;
};

// A call's arguments by parameter. The accessors convert and raise errors that name the parameter.
class Arguments {
 public:
  // Throws where the call does not fit the signature.
  Arguments(Context& context, const FunctionRecord& record, const CallArguments& given,
            const Node& node);

  Context& context() const { return context_; }
  const FunctionRecord& record() const { return record_; }
  const Node& node() const { return node_; }

  const Value& value(std::string_view name) const;  // the default where it was not given
  std::span<const CallArgument> rest() const { return rest_; }  // of a variadic parameter
  bool has(std::string_view name) const { return !value(name).is_none(); }

  // Compile-time values.
  int64_t integer(std::string_view name) const;
  int64_t integer_or(std::string_view name, int64_t otherwise) const;  // for None
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;  // empty for None
  DType dtype(std::string_view name) const;
  // Ints of a tuple, or one int as a tuple of one.
  std::vector<int64_t> integers(std::string_view name) const;
  // A tile's shape: powers of two within the limits.
  std::vector<int64_t> shape(std::string_view name) const;
  // Of a variadic parameter: one tuple, or the ints themselves.
  std::vector<int64_t> rest_integers() const;

  // Run-time values; literals become constants of their default type.
  ir::Value* number(std::string_view name) const;
  ir::Value* tile(std::string_view name) const;     // rank 1 and more
  ir::Value* pointer(std::string_view name) const;  // scalar or tile
  const Value& descriptor(std::string_view name) const;

  // `tl.name`, in backquotes.
  std::string quoted() const { return "`tl." + record_.name + "`"; }
  [[noreturn]] void fail_constant_needed(std::string_view name) const;

 private:
  size_t index_of(std::string_view name) const;
  void bind_positional(const CallArguments& given);
  void bind_keywords(const CallArguments& given);

  Context& context_;
  const FunctionRecord& record_;
  const Node& node_;
  std::vector<Value> values_;
  std::vector<CallArgument> rest_;
};

// A tile's shape must hold powers of two within the limits; an error otherwise.
void check_shape(Context& context, std::span<const int64_t> shape);

// Emits the operations of one call; handlers are grouped by file (functions_*.cpp).
Value call_function(FunctionId id, const Arguments& arguments);

}  // namespace enceladus::frontend
