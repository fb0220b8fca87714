#include "codegen/cuda/atomics_prelude.h"

#include "codegen/cuda/prelude.h"

namespace enceladus::cuda {
namespace {

using ir::AtomicKind;

// What CUDA calls the function, and what helpers call theirs.
struct Word {
  std::string_view native, own;
};

Word word_of(AtomicKind kind) {
  switch (kind) {
    case AtomicKind::kAdd:
      return {"atomicAdd", "add"};
    case AtomicKind::kMax:
      return {"atomicMax", "max"};
    case AtomicKind::kMin:
      return {"atomicMin", "min"};
    case AtomicKind::kAnd:
      return {"atomicAnd", "and"};
    case AtomicKind::kOr:
      return {"atomicOr", "or"};
    case AtomicKind::kXor:
      return {"atomicXor", "xor"};
    case AtomicKind::kExchange:
      return {"atomicExch", "exchange"};
  }
  return {};
}

// The type in which the device's own function takes the element, or nothing where there is none.
// Two's complement sums and bit operations do not ask for the sign.
std::string native_type(AtomicKind kind, DType dtype) {
  int bytes = byte_size(dtype);
  if (bytes < 4) return "";
  bool extremum = kind == AtomicKind::kMax || kind == AtomicKind::kMin;
  if (is_float(dtype)) {
    if (kind == AtomicKind::kAdd) return std::string(type_name(dtype));
    if (kind != AtomicKind::kExchange) return "";
  }
  if (bytes == 4) return extremum && is_signed(dtype) ? "int" : "uint";
  return extremum && is_signed(dtype) ? "long long" : "unsigned long long";
}

// What memory holds afterwards, from `before` and `value`.
std::string combination(AtomicKind kind, DType dtype) {
  std::string type(memory_type_name(dtype));
  bool is_float = enceladus::is_float(dtype), is_double = dtype == DType::kFloat64;
  bool is_narrow = is_float && byte_size(dtype) == 2;
  std::string a = is_narrow ? "float(before)" : "before", b = is_narrow ? "float(value)" : "value";
  std::string suffix = is_float ? (is_double ? "" : "f") : "";
  std::string prefix = is_float ? "(f" : "(";
  switch (kind) {
    case AtomicKind::kAdd:
      return type + "(" + a + " + " + b + ")";
    case AtomicKind::kMax:
      return type + prefix + "max" + suffix + "(" + a + ", " + b + "))";
    case AtomicKind::kMin:
      return type + prefix + "min" + suffix + "(" + a + ", " + b + "))";
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

// The word that holds an element, and how its bits stand there.
class Packing {
 public:
  explicit Packing(DType dtype) : dtype_(dtype), type_(memory_type_name(dtype)) {}

  bool is_part() const { return byte_size(dtype_) < 4; }
  std::string word() const { return byte_size(dtype_) == 8 ? "unsigned long long" : "uint"; }
  std::string declarations() const {
    if (!is_part()) return "  " + word() + "* word = (" + word() + "*)p;\n";
    return "  uint* word = (uint*)((ulong)p & ~3ul);\n"
           "  const uint shift = (uint((ulong)p) & 3u) * 8u;\n";
  }
  std::string bits(const std::string& value) const {
    if (!is_part()) return "as_type<" + word() + ">(" + value + ")";
    return "(uint(as_type<" + narrow() + ">(" + value + ")) << shift)";
  }
  std::string value(const std::string& word) const {
    if (!is_part()) return "as_type<" + type_ + ">(" + word + ")";
    return "as_type<" + type_ + ">(" + narrow() + "(" + word + " >> shift))";
  }
  std::string mask() const {
    return byte_size(dtype_) == 2 ? "(0xffffu << shift)" : "(0xffu << shift)";
  }
  std::string replaced(const std::string& value) const {
    return is_part() ? "(seen & ~" + mask() + ") | " + bits(value) : bits(value);
  }

 private:
  std::string narrow() const { return byte_size(dtype_) == 2 ? "ushort" : "uchar"; }
  DType dtype_;
  std::string type_;
};

std::string signature(const std::string& name, DType dtype, const std::string& arguments) {
  std::string type(memory_type_name(dtype));
  return "__device__ inline " + type + " " + name + "(" + type + "* p" + arguments + ") {\n";
}

std::string loop_text(AtomicKind kind, DType dtype) {
  std::string type(memory_type_name(dtype));
  Packing pack(dtype);
  return signature(atomic_name(kind), dtype, ", " + type + " value") + pack.declarations() + "  " +
         pack.word() + " seen = *(volatile " + pack.word() +
         "*)word;\n  while (true) {\n    const " + type + " before = " + pack.value("seen") +
         ";\n    const " + type + " after = " + combination(kind, dtype) + ";\n    const " +
         pack.word() + " found = atomicCAS(word, seen, " + pack.replaced("after") +
         ");\n    if (found == seen) return before;\n    seen = found;\n  }\n}\n";
}

}  // namespace

std::string atomic_name(AtomicKind kind) { return "enc_atomic_" + std::string(word_of(kind).own); }

std::string atomic_text(AtomicKind kind, DType dtype) {
  std::string native = native_type(kind, dtype);
  if (native.empty()) return loop_text(kind, dtype);
  std::string type(memory_type_name(dtype));
  return signature(atomic_name(kind), dtype, ", " + type + " value") + "  return as_type<" + type +
         ">(" + std::string(word_of(kind).native) + "((" + native + "*)p, as_type<" + native +
         ">(value)));\n}\n";
}

std::string compare_and_swap_text(DType dtype) {
  std::string type(memory_type_name(dtype));
  Packing pack(dtype);
  std::string head =
      signature(kCompareAndSwapName, dtype, ", " + type + " compare, " + type + " value") +
      pack.declarations();
  if (!pack.is_part())
    return head + "  return " +
           pack.value("atomicCAS(word, " + pack.bits("compare") + ", " + pack.bits("value") + ")") +
           ";\n}\n";
  return head + "  uint seen = *(volatile uint*)word;\n  while (true) {\n    if ((seen & " +
         pack.mask() + ") != " + pack.bits("compare") + ") return " + pack.value("seen") +
         ";\n    const uint found = atomicCAS(word, seen, " + pack.replaced("value") +
         ");\n    if (found == seen) return compare;\n    seen = found;\n  }\n}\n";
}

}  // namespace enceladus::cuda
