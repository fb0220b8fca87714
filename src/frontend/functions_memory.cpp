// Handlers: loads, stores and atomics through pointers.
#include "frontend/handlers.h"

namespace enceladus::frontend {
namespace {

void refuse_block_pointer_options(const Arguments& arguments, bool has_padding) {
  bool given = !arguments.integers("boundary_check").empty() ||
               (has_padding && !arguments.text("padding_option").empty());
  if (given) arguments.context().fail(DiagnosticId::kBlockPointerOption, {arguments.quoted()});
}

std::string chosen(const Arguments& arguments, std::string_view name,
                   std::initializer_list<std::string_view> allowed) {
  std::string text = arguments.text(name);
  std::string list;
  for (std::string_view one : allowed) {
    if (one == text) return text;
    list += (list.empty() ? "\"" : ", \"") + std::string(one) + "\"";
  }
  arguments.context().fail(DiagnosticId::kUnknownChoice,
                           {arguments.quoted(), std::string(name), text, list});
}

void add_cache_hints(const Arguments& arguments, std::initializer_list<std::string_view> modifiers,
                     std::vector<ir::Attribute>& attributes) {
  std::string modifier = chosen(arguments, "cache_modifier", modifiers);
  std::string policy =
      chosen(arguments, "eviction_policy", {"", "evict_first", "evict_last", "evict_normal"});
  if (!modifier.empty()) attributes.push_back({ir::AttributeName::kCacheModifier, modifier});
  if (!policy.empty()) attributes.push_back({ir::AttributeName::kEvictionPolicy, policy});
}

Value atomic(const Arguments& arguments, ir::AtomicKind kind) {
  Context& context = arguments.context();
  ir::Value* pointer = arguments.pointer("pointer");
  DType dtype = pointer->type().dtype();
  bool bits_only =
      kind == ir::AtomicKind::kAnd || kind == ir::AtomicKind::kOr || kind == ir::AtomicKind::kXor;
  bool possible =
      bits_only ? is_integer(dtype) : kind == ir::AtomicKind::kExchange || !is_bool(dtype);
  if (!possible || is_float8(dtype))
    context.fail(DiagnosticId::kAtomicType,
                 {arguments.quoted(), std::string(info(dtype).python_name)});
  std::span<const int64_t> shape = pointer->type().shape();
  ir::Value* value = converted_argument(arguments, "val", dtype, shape);
  ir::Value* mask = mask_argument(arguments, shape);
  std::vector<ir::Attribute> attributes = {
      {ir::AttributeName::kAtomic, static_cast<int64_t>(kind)}};
  std::string semantics =
      chosen(arguments, "sem", {"", "acq_rel", "acquire", "release", "relaxed"});
  std::string scope = chosen(arguments, "scope", {"", "gpu", "cta", "sys"});
  if (!semantics.empty()) attributes.push_back({ir::AttributeName::kSemantics, semantics});
  if (!scope.empty()) attributes.push_back({ir::AttributeName::kScope, scope});
  return Value::runtime(context.builder.create(ir::Opcode::kAtomicRmw, {pointer, value, mask},
                                               std::move(attributes)));
}

}  // namespace

template <>
Value handle<FunctionId::kLoad>(const Arguments& arguments) {
  Context& context = arguments.context();
  refuse_block_pointer_options(arguments, true);
  ir::Value* pointer = arguments.pointer("pointer");
  std::span<const int64_t> shape = pointer->type().shape();
  bool has_other = arguments.has("other");
  if (has_other && !arguments.has("mask")) context.fail(DiagnosticId::kOtherWithoutMask);
  ir::Value* mask = mask_argument(arguments, shape);
  ir::Value* other = nullptr;
  if (has_other && mask)
    other = converted_argument(arguments, "other", pointer->type().dtype(), shape);
  std::vector<ir::Attribute> attributes;
  add_cache_hints(arguments, {"", ".ca", ".cg", ".cv"}, attributes);
  if (arguments.flag("volatile")) attributes.push_back({ir::AttributeName::kVolatile, int64_t{1}});
  return Value::runtime(
      context.builder.create(ir::Opcode::kLoad, {pointer, mask, other}, std::move(attributes)));
}

template <>
Value handle<FunctionId::kStore>(const Arguments& arguments) {
  Context& context = arguments.context();
  refuse_block_pointer_options(arguments, false);
  ir::Value* pointer = arguments.pointer("pointer");
  std::span<const int64_t> shape = pointer->type().shape();
  ir::Value* value = converted_argument(arguments, "value", pointer->type().dtype(), shape);
  ir::Value* mask = mask_argument(arguments, shape);
  std::vector<ir::Attribute> attributes;
  add_cache_hints(arguments, {"", ".wb", ".cg", ".cs", ".wt"}, attributes);
  context.builder.create(ir::Opcode::kStore, {pointer, value, mask}, std::move(attributes));
  return Value::none();
}

template <>
Value handle<FunctionId::kAtomicAdd>(const Arguments& arguments) {
  return atomic(arguments, ir::AtomicKind::kAdd);
}
template <>
Value handle<FunctionId::kAtomicMax>(const Arguments& arguments) {
  return atomic(arguments, ir::AtomicKind::kMax);
}
template <>
Value handle<FunctionId::kAtomicMin>(const Arguments& arguments) {
  return atomic(arguments, ir::AtomicKind::kMin);
}
template <>
Value handle<FunctionId::kAtomicAnd>(const Arguments& arguments) {
  return atomic(arguments, ir::AtomicKind::kAnd);
}
template <>
Value handle<FunctionId::kAtomicOr>(const Arguments& arguments) {
  return atomic(arguments, ir::AtomicKind::kOr);
}
template <>
Value handle<FunctionId::kAtomicXor>(const Arguments& arguments) {
  return atomic(arguments, ir::AtomicKind::kXor);
}
template <>
Value handle<FunctionId::kAtomicXchg>(const Arguments& arguments) {
  return atomic(arguments, ir::AtomicKind::kExchange);
}

template <>
Value handle<FunctionId::kAtomicCas>(const Arguments& arguments) {
  Context& context = arguments.context();
  ir::Value* pointer = arguments.pointer("pointer");
  std::span<const int64_t> shape = pointer->type().shape();
  DType dtype = pointer->type().dtype();
  if (is_float8(dtype))
    context.fail(DiagnosticId::kAtomicType,
                 {arguments.quoted(), std::string(info(dtype).python_name)});
  ir::Value* expected = converted_argument(arguments, "cmp", dtype, shape);
  ir::Value* value = converted_argument(arguments, "val", dtype, shape);
  std::vector<ir::Attribute> attributes;
  std::string semantics =
      chosen(arguments, "sem", {"", "acq_rel", "acquire", "release", "relaxed"});
  std::string scope = chosen(arguments, "scope", {"", "gpu", "cta", "sys"});
  if (!semantics.empty()) attributes.push_back({ir::AttributeName::kSemantics, semantics});
  if (!scope.empty()) attributes.push_back({ir::AttributeName::kScope, scope});
  return Value::runtime(context.builder.create(ir::Opcode::kAtomicCas, {pointer, expected, value},
                                               std::move(attributes)));
}

}  // namespace enceladus::frontend
