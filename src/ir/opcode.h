// The operations, attributes and enumerations of the tile IR as C++: enumerators and constant
// tables made from the .def files; the SIMT IR's operations stand behind the tile's. Not: instances
// of operations (ir/ir.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace enceladus::ir {

enum class Opcode : uint8_t {
#define OP(name, ...) k##name,
#include "ir/async_ops.def"
#include "ir/ops.def"
#include "ir/simt_ops.def"
#undef OP
};

enum class OpClass : uint8_t {
  kSource,
  kElementwise,
  kShape,
  kReduction,
  kMatrix,
  kMemory,
  kControl,
  kDebug,
  kSimt
};
enum class Effect : uint8_t { kPure, kRead, kWrite, kReadWrite, kOrdered, kControl };

struct OpRecord {
  Opcode opcode;
  std::string_view name;
  OpClass op_class;
  Effect effect;
  std::string_view operands;
  std::string_view result;
  std::string_view attributes;
  std::string_view summary;
  std::string_view example;
};

inline constexpr OpRecord kOps[] = {
#define OP(name, text, op_class, effect, operands, result, attributes, summary, example) \
  {                                                                                      \
      Opcode::k##name,   #text,    OpClass::k##op_class,                                 \
      Effect::k##effect, operands, #result,                                              \
      attributes,        summary,  example},
#include "ir/async_ops.def"
#include "ir/ops.def"
#include "ir/simt_ops.def"
#undef OP
};
inline constexpr int kOpCount = static_cast<int>(std::size(kOps));

constexpr const OpRecord& info(Opcode opcode) { return kOps[static_cast<int>(opcode)]; }
std::optional<Opcode> opcode_from_name(std::string_view name);

enum class AttributeName : uint8_t {
#define ATTRIBUTE(name, text, kind) k##name,
#include "ir/attributes.def"
#undef ATTRIBUTE
};

#define ENUMERATION(name) enum class name : uint8_t {
#define ENUMERATOR(name, enumerator, text) k##enumerator,
#define END_ENUMERATION(name) \
  }                           \
  ;
#include "ir/enums.def"
#undef ENUMERATION
#undef ENUMERATOR
#undef END_ENUMERATION

// How an attribute is written: a number, a list, a string, an element's bits, or an enumerator.
enum class AttributeKind : uint8_t {
  kInt,
  kInts,
  kText,
  kBits,
  kRounding,
  kHintKind,
  kCombineKind,
  kInputPrecision,
  kAtomicKind,
  kPadding
};

struct AttributeRecord {
  AttributeName attribute;
  std::string_view name;
  AttributeKind kind;
};
inline constexpr AttributeRecord kAttributes[] = {
#define ATTRIBUTE(name, text, kind) {AttributeName::k##name, #text, AttributeKind::k##kind},
#include "ir/attributes.def"
#undef ATTRIBUTE
};
constexpr const AttributeRecord& info(AttributeName name) {
  return kAttributes[static_cast<int>(name)];
}
std::optional<AttributeName> attribute_from_name(std::string_view name);

// The words of an enumeration kind, in enumerator order; empty for the other kinds.
std::span<const std::string_view> enumerator_names(AttributeKind kind);

}  // namespace enceladus::ir
