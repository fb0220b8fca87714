#include "ir/opcode.h"

#include <array>

namespace enceladus::ir {
namespace {

#define ENUMERATION(name) constexpr std::string_view k##name##Names[] = {
#define ENUMERATOR(name, enumerator, text) #text,
#define END_ENUMERATION(name) \
  }                           \
  ;
#include "ir/enums.def"
#undef ENUMERATION
#undef ENUMERATOR
#undef END_ENUMERATION

}  // namespace

std::optional<Opcode> opcode_from_name(std::string_view name) {
  for (const OpRecord& record : kOps)
    if (record.name == name) return record.opcode;
  return std::nullopt;
}

std::optional<AttributeName> attribute_from_name(std::string_view name) {
  for (const AttributeRecord& record : kAttributes)
    if (record.name == name) return record.attribute;
  return std::nullopt;
}

std::span<const std::string_view> enumerator_names(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
    case AttributeKind::kInts:
    case AttributeKind::kText:
    case AttributeKind::kBits:
      return {};
    case AttributeKind::kRounding:
      return kRoundingNames;
    case AttributeKind::kHintKind:
      return kHintKindNames;
    case AttributeKind::kCombineKind:
      return kCombineKindNames;
    case AttributeKind::kInputPrecision:
      return kInputPrecisionNames;
    case AttributeKind::kAtomicKind:
      return kAtomicKindNames;
    case AttributeKind::kPadding:
      return kPaddingNames;
  }
  return {};
}

}  // namespace enceladus::ir
