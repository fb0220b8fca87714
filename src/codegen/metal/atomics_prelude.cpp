#include "codegen/metal/atomics_prelude.h"

#include "codegen/common/dialect.h"

namespace enceladus::metal {
namespace {

using codegen::memory_type_name;
using codegen::type_name;

using ir::AtomicKind;

constexpr const char* kOrder = "memory_order_relaxed";

std::string word_of(AtomicKind kind) {
  switch (kind) {
    case AtomicKind::kAdd:
      return "add";
    case AtomicKind::kMax:
      return "max";
    case AtomicKind::kMin:
      return "min";
    case AtomicKind::kAnd:
      return "and";
    case AtomicKind::kOr:
      return "or";
    case AtomicKind::kXor:
      return "xor";
    case AtomicKind::kExchange:
      return "exchange";
  }
  return "";
}

// What memory holds afterwards, from `before` and `value`.
std::string combination(AtomicKind kind, DType dtype) {
  std::string type(type_name(dtype));
  bool narrow_float = is_float(dtype) && dtype != DType::kFloat32;
  std::string a = narrow_float ? "float(before)" : "before";
  std::string b = narrow_float ? "float(value)" : "value";
  bool is_float = enceladus::is_float(dtype);
  switch (kind) {
    case AtomicKind::kAdd:
      return type + "(" + a + " + " + b + ")";
    case AtomicKind::kMax:
      return type + (is_float ? "(fmax(" : "(max(") + a + ", " + b + "))";
    case AtomicKind::kMin:
      return type + (is_float ? "(fmin(" : "(min(") + a + ", " + b + "))";
    case AtomicKind::kAnd:
      return type + "(before & value)";
    case AtomicKind::kOr:
      return type + "(before | value)";
    case AtomicKind::kXor:
      return type + "(before ^ value)";
    case AtomicKind::kExchange:
      return "value";
  }
  return "";
}

// How a value's bits stand in a word, and come out of it.
struct Packing {
  std::string word_pointer, shift, mask;  // shift is empty for whole words
  std::string bits(DType dtype, const std::string& value) const {
    if (shift.empty()) return "as_type<uint>(" + value + ")";
    std::string narrow = byte_size(dtype) == 2 ? "ushort" : "uchar";
    return "(uint(as_type<" + narrow + ">(" + value + ")) << shift)";
  }
  std::string value(DType dtype, const std::string& word) const {
    std::string type(memory_type_name(dtype));
    if (shift.empty()) return "as_type<" + type + ">(" + word + ")";
    std::string narrow = byte_size(dtype) == 2 ? "ushort" : "uchar";
    return "as_type<" + type + ">(" + narrow + "(" + word + " >> shift))";
  }
};

Packing packing(DType dtype) {
  Packing result;
  if (byte_size(dtype) == 4) {
    result.word_pointer = "  device atomic_uint* word = (device atomic_uint*)p;\n";
    return result;
  }
  result.shift = "  const uint shift = (uint((ulong)p) & 3u) * 8u;\n";
  result.word_pointer =
      "  device atomic_uint* word = (device atomic_uint*)((ulong)p & ~ulong(3));\n" + result.shift;
  result.mask = byte_size(dtype) == 2 ? "0xffffu" : "0xffu";
  return result;
}

std::string signature(const std::string& name, DType dtype, const std::string& arguments) {
  std::string type(memory_type_name(dtype));
  return "inline " + type + " " + name + "(device " + type + "* p" + arguments + ") {\n";
}

std::string loop_text(AtomicKind kind, DType dtype) {
  std::string type(memory_type_name(dtype));
  Packing pack = packing(dtype);
  std::string next = pack.bits(dtype, "after");
  if (!pack.shift.empty()) next = "(seen & ~(" + pack.mask + " << shift)) | " + next;
  return signature(atomic_name(kind), dtype, ", " + type + " value") + pack.word_pointer +
         "  uint seen = atomic_load_explicit(word, " + kOrder + ");\n  while (true) {\n    const " +
         type + " before = " + pack.value(dtype, "seen") + ";\n    const " + type +
         " after = " + combination(kind, dtype) +
         ";\n    if (atomic_compare_exchange_weak_explicit(word, &seen, " + next + ", " + kOrder +
         ", " + kOrder + ")) return before;\n  }\n}\n";
}

}  // namespace

std::string atomic_name(AtomicKind kind) { return "enc_atomic_" + word_of(kind); }

std::string fetch_name(AtomicKind kind) {
  return kind == AtomicKind::kExchange ? "atomic_exchange_explicit"
                                       : "atomic_fetch_" + word_of(kind) + "_explicit";
}

std::string atomic_text(AtomicKind kind, DType dtype) {
  std::string type(memory_type_name(dtype));
  bool native = dtype == DType::kInt32 || dtype == DType::kUInt32 ||
                (dtype == DType::kFloat32 && kind == AtomicKind::kAdd);
  if (!native) return loop_text(kind, dtype);
  return signature(atomic_name(kind), dtype, ", " + type + " value") + "  return " +
         fetch_name(kind) + "((device atomic_" + type + "*)p, value, " + kOrder + ");\n}\n";
}

std::string compare_and_swap_text(DType dtype) {
  std::string type(memory_type_name(dtype));
  Packing pack = packing(dtype);
  std::string next = pack.bits(dtype, "value");
  if (!pack.shift.empty()) next = "(seen & ~(" + pack.mask + " << shift)) | " + next;
  std::string same = pack.shift.empty() ? "seen != " + pack.bits(dtype, "compare")
                                        : "(seen & (" + pack.mask +
                                              " << shift)) != " + pack.bits(dtype, "compare");
  return signature(kCompareAndSwapName, dtype, ", " + type + " compare, " + type + " value") +
         pack.word_pointer + "  uint seen = atomic_load_explicit(word, " + kOrder +
         ");\n  while (true) {\n    if (" + same + ") return " + pack.value(dtype, "seen") +
         ";\n    if (atomic_compare_exchange_weak_explicit(word, &seen, " + next + ", " + kOrder +
         ", " + kOrder + ")) return compare;\n  }\n}\n";
}

}  // namespace enceladus::metal
