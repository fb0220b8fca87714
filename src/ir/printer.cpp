#include "ir/printer.h"

#include <charconv>
#include <cmath>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/op_rules.h"
#include "support/check.h"

namespace enceladus::ir {
namespace {

constexpr std::string_view kMathModeNames[] = {"relaxed", "fast", "precise"};
constexpr std::string_view kDotBackendNames[] = {"auto", "simdgroup", "mpp", "wgmma", "mma"};

template <typename Number>
std::string shortest(Number value) {
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  ENC_CHECK(error == std::errc());
  std::string text(buffer, end);
  bool plain = text.find_first_of(".en") == std::string::npos;
  return plain ? text + ".0" : text;
}

std::string hexadecimal(uint64_t bits) {
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, bits, 16);
  return "0x" + std::string(buffer, end);
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string attribute_text(const Attribute& attribute, const Operation& op) {
  AttributeKind kind = info(attribute.name).kind;
  switch (kind) {
    case AttributeKind::kInt:
      return std::to_string(std::get<int64_t>(attribute.value));
    case AttributeKind::kInts: {
      std::string list;
      for (int64_t item : std::get<std::vector<int64_t>>(attribute.value))
        list += (list.empty() ? "" : ", ") + std::to_string(item);
      return "[" + list + "]";
    }
    case AttributeKind::kText:
      return quoted(std::get<std::string>(attribute.value));
    case AttributeKind::kBits:
      return constant_text(op.result()->type().dtype(),
                           static_cast<uint64_t>(std::get<int64_t>(attribute.value)));
    case AttributeKind::kRounding:
    case AttributeKind::kHintKind:
    case AttributeKind::kCombineKind:
    case AttributeKind::kInputPrecision:
    case AttributeKind::kAtomicKind:
    case AttributeKind::kPadding:
      break;
  }
  size_t index = static_cast<size_t>(std::get<int64_t>(attribute.value));
  std::span<const std::string_view> names = enumerator_names(kind);
  return index < names.size() ? std::string(names[index]) : "<invalid>";
}

bool is_control(const Operation& op) { return op.record().op_class == OpClass::kControl; }

// Which types stand behind the colon.
bool states_operand_types(const OpRecord& record) {
  return record.op_class != OpClass::kSource && record.op_class != OpClass::kControl &&
         record.op_class != OpClass::kDebug;
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string function(const Function& function) {
    text_ += "kernel @" + function.name() + "(";
    for (size_t i = 0; i < function.parameters().size(); ++i)
      parameter(function.parameters()[i], function.body().argument(static_cast<int>(i)), i > 0);
    text_ += ") ";
    function_options(function.options());
    open_region(function.body());
    text_ += "}\n";
    return std::move(text_);
  }

  std::string operation(const Operation& op) {
    if (is_control(op)) {
      control_head(op);
    } else {
      results(op);
      plain(op);
    }
    return std::move(text_);
  }

 private:
  void parameter(const ParameterInfo& info, const Value* value, bool follows) {
    if (follows) text_ += ", ";
    text_ += name(value) + ": " + to_string(info.type);
    std::string facts;
    auto fact = [&](bool holds, std::string_view word) {
      if (holds) facts += (facts.empty() ? "" : ", ") + std::string(word);
    };
    fact(info.divisible_by_16, "divisible_by_16");
    fact(info.equal_to_1, "equal_to_1");
    fact(info.aligned_16, "aligned_16");
    if (!facts.empty()) text_ += " {" + facts + "}";
  }

  void function_options(const FunctionOptions& options) {
    text_ += "{num_warps = " + std::to_string(options.num_warps);
    text_ += ", math_mode = ";
    text_ += kMathModeNames[static_cast<size_t>(options.math_mode)];
    if (options.debug) text_ += ", debug";
    if (options.arrays_disjoint) text_ += ", arrays_disjoint";
    if (options.arrays_small) text_ += ", arrays_small";
    if (options.dot_warps_m != 0)
      text_ += ", dot_warps = " + std::to_string(options.dot_warps_m) + " by " +
               std::to_string(options.dot_warps_n);
    if (options.dot_backend != DotBackend::kAuto) {
      text_ += ", dot_backend = ";
      text_ += kDotBackendNames[static_cast<size_t>(options.dot_backend)];
    }
    text_ += "} ";
  }

  // The user's name made unique, or a number; fixed at its first appearance.
  const std::string& name(const Value* value) {
    std::string& text = names_[value];
    if (!text.empty()) return text;
    if (value->name().empty()) return text = "%" + std::to_string(numbered_++);
    std::string base;
    for (char c : value->name()) base += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (base.front() >= '0' && base.front() <= '9') base.insert(0, "_");
    int count = taken_[base]++;
    return text = "%" + base + (count == 0 ? "" : "." + std::to_string(count));
  }

  void open_region(const Region& region) {
    text_ += "{\n";
    ++depth_;
    for (const Operation* op : region) line(*op);
    --depth_;
  }

  void close_region(std::string_view rest) {
    indent();
    text_ += "}";
    text_ += rest;
  }

  void indent() { text_.append(static_cast<size_t>(2 * depth_), ' '); }

  void line(const Operation& op) {
    indent();
    if (is_control(op)) {
      control(op);
    } else {
      results(op);
      plain(op);
      if (!op.regions().empty()) {
        text_ += " ";
        arguments(*op.region(0));
        open_region(*op.region(0));
        close_region("");
      }
    }
    if (op.regions().empty()) source_line(op);
    text_ += '\n';
  }

  void source_line(const Operation& op) {
    if (!options_.source_lines || !op.location().known()) return;
    text_ +=
        "  // " + std::to_string(op.location().line) + ":" + std::to_string(op.location().column);
  }

  void list(std::span<Value* const> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ", ";
      text_ += name(values[i]);
    }
  }

  void results(const Operation& op) {
    if (op.results().empty()) return;
    list(op.results());
    text_ += " = ";
  }

  void arguments(const Region& region) {
    text_ += "(";
    list(region.arguments());
    text_ += ") ";
  }

  void plain(const Operation& op) {
    text_ += op.record().name;
    if (op.is(Opcode::kConstant)) {
      text_ += " " + attribute_text(op.attributes().front(), op) + " : ";
      text_ += to_string(op.result()->type());
      return;
    }
    operands(op);
    attributes(op);
    types(op);
  }

  void operands(const Operation& op) {
    const OpRules& rules = op_rules(op.opcode());
    bool first = true;
    for (int i = 0; i < op.operand_count(); ++i) {
      const Value* value = op.operand(i);
      if (!value) continue;
      text_ += first ? " " : ", ";
      first = false;
      if (i < rules.fixed_operands && rules.operand(i).optional)
        text_ += std::string(rules.operand(i).name) + " = ";
      text_ += name(value);
    }
  }

  void attributes(const Operation& op) {
    bool first = true;
    for (const AttributeInfo& rule : op_rules(op.opcode()).attributes) {
      for (const Attribute& attribute : op.attributes()) {
        if (attribute.name != rule.name) continue;
        text_ += first ? " {" : ", ";
        first = false;
        text_ += std::string(info(rule.name).name) + " = " + attribute_text(attribute, op);
      }
    }
    if (!first) text_ += "}";
  }

  void types(const Operation& op) {
    const OpRules& rules = op_rules(op.opcode());
    bool given = rules.result == ResultRule::kGiven;
    bool from_memory = given && op.record().op_class == OpClass::kMemory;
    std::string before;
    if (states_operand_types(op.record()) && !from_memory) before = operand_types(op, rules);
    std::string after;
    if (given)
      for (const Value* result : op.results())
        after += (after.empty() ? "" : ", ") + to_string(result->type());
    if (before.empty() && after.empty()) return;
    text_ += " : " + before;
    if (!before.empty() && !after.empty()) text_ += " -> ";
    text_ += after;
  }

  static std::string operand_types(const Operation& op, const OpRules& rules) {
    std::string text;
    for (int i = 0; i < op.operand_count(); ++i) {
      if (!rules.operand(i).stated() || !op.operand(i)) continue;
      text += (text.empty() ? "" : ", ") + to_string(op.operand(i)->type());
    }
    return text;
  }

  // Everything of a control operation up to its first region.
  void control_head(const Operation& op) {
    results(op);
    text_ += op.record().name;
    switch (op.opcode()) {
      case Opcode::kFor:
        text_ += " " + name(op.region(0)->argument(0)) + " = " + name(op.operand(0)) + " to " +
                 name(op.operand(1)) + " step " + name(op.operand(2));
        attributes(op);
        carried(*op.region(0), 1, op.operands().subspan(3));
        break;
      case Opcode::kWhile:
        carried(*op.region(0), 0, op.operands());
        break;
      case Opcode::kIf:
        text_ += " " + name(op.operand(0));
        break;
      default:  // yield
        operands(op);
        return;
    }
    result_types(op);
    text_ += " ";
  }

  void carried(const Region& region, int skipped, std::span<Value* const> initial) {
    if (initial.empty()) return;
    text_ += " carry (";
    for (size_t i = 0; i < initial.size(); ++i) {
      if (i > 0) text_ += ", ";
      text_ += name(region.argument(static_cast<int>(i) + skipped)) + " = " + name(initial[i]);
    }
    text_ += ")";
  }

  void result_types(const Operation& op) {
    if (op.results().empty()) return;
    text_ += " : (";
    for (int i = 0; i < op.result_count(); ++i)
      text_ += (i > 0 ? ", " : "") + to_string(op.result(i)->type());
    text_ += ")";
  }

  void control(const Operation& op) {
    control_head(op);
    if (op.is(Opcode::kYield)) return;
    open_region(*op.region(0));
    if (op.is(Opcode::kWhile)) {
      close_region(" do ");
      arguments(*op.region(1));
      open_region(*op.region(1));
    }
    if (op.is(Opcode::kIf)) {
      const Region& otherwise = *op.region(1);
      bool nothing = otherwise.front() && otherwise.front()->is(Opcode::kYield) &&
                     otherwise.front()->operands().empty();
      if (!nothing) {
        close_region(" else ");
        open_region(otherwise);
      }
    }
    close_region("");
  }

  PrintOptions options_;
  std::string text_;
  int depth_ = 0;
  int numbered_ = 0;
  std::unordered_map<const Value*, std::string> names_;
  std::unordered_map<std::string, int> taken_;
};

}  // namespace

std::string print(const Function& function, const PrintOptions& options) {
  return Printer(options).function(function);
}

std::string print(const Operation& op) { return Printer({}).operation(op); }

std::string constant_text(DType dtype, uint64_t bits) {
  if (is_bool(dtype)) return bits ? "true" : "false";
  if (dtype == DType::kUInt64) return std::to_string(bits);
  if (is_integer(dtype)) return std::to_string(integer_of_bits(dtype, bits));
  double value = double_of_bits(dtype, bits);
  // A number that is read into a float of 8 bits saturates.
  if (std::isnan(value) || (std::isinf(value) && is_float8(dtype))) return hexadecimal(bits);
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // A narrow float's shortest float32 text rounds back to it.
  return dtype == DType::kFloat64 ? shortest(value) : shortest(static_cast<float>(value));
}

}  // namespace enceladus::ir
