#include "simulator/ir_rewrite.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace enceladus::simulator {
namespace {

struct ThreadgroupVariable {
  std::string symbol;  // with the `@`
  std::string type;
};

std::optional<ThreadgroupVariable> match(std::string_view line) {
  constexpr std::string_view kMiddle = " = internal global ", kEnd = " undef";
  if (!line.starts_with("@")) return std::nullopt;
  size_t middle = line.find(kMiddle), end = line.rfind(kEnd);
  if (middle == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  size_t type = middle + kMiddle.size();
  return ThreadgroupVariable{std::string(line.substr(0, middle)),
                             std::string(line.substr(type, end - type))};
}

// "@_ZZ3addE1s" -> "s"
std::string readable_name(const std::string& symbol) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str() + 1, nullptr, nullptr, &status), std::free);
  std::string text = status == 0 && name ? name.get() : symbol.substr(1);
  size_t colon = text.rfind("::");
  if (colon != std::string::npos) text = text.substr(colon + 2);
  // The headers rename what is a keyword of OpenCL (enceladus/keywords.h).
  constexpr std::string_view kRenamed = "enceladus_name_";
  return text.starts_with(kRenamed) ? text.substr(kRenamed.size()) : text;
}

std::string with_suffix(const std::string& symbol, const std::string& suffix) {
  if (symbol.back() != '"') return symbol + suffix;
  return symbol.substr(0, symbol.size() - 1) + suffix + "\"";
}

void append_variable(std::string& out, const ThreadgroupVariable& variable) {
  std::string block = with_suffix(variable.symbol, ".block");
  std::string type = "{ [64 x i8], " + variable.type + ", [64 x i8] }";
  out += block + " = hidden global " + type + " zeroinitializer, align 64\n";
  out += variable.symbol + " = hidden alias " + variable.type + ", getelementptr inbounds (" +
         type + ", ptr " + block + ", i32 0, i32 1)\n";
}

void append_table(std::string& out, const std::vector<ThreadgroupVariable>& variables) {
  std::string rows;
  for (size_t i = 0; i < variables.size(); ++i) {
    std::string name = readable_name(variables[i].symbol);
    std::string name_symbol = "@enceladus_name." + std::to_string(i);
    out += name_symbol + " = hidden constant [" + std::to_string(name.size() + 1) + " x i8] c\"" +
           name + "\\00\"\n";
    rows += "{ ptr, i64, ptr } { ptr " + variables[i].symbol +
            ", i64 ptrtoint (ptr getelementptr (" + variables[i].type +
            ", ptr null, i32 1) to i64), ptr " + name_symbol + " }, ";
  }
  out += "@enceladus_threadgroup = constant [" + std::to_string(variables.size() + 1) +
         " x { ptr, i64, ptr }] [" + rows + "{ ptr, i64, ptr } zeroinitializer]\n";
}

void append_stubs(std::string& out, std::span<const std::string_view> functions) {
  // Hidden, so that the jumps need no relocation; `enceladus_function_table` is what the loader
  // asks.
  out += "@enceladus_functions = hidden global [" + std::to_string(functions.size()) +
         " x ptr] zeroinitializer\n@enceladus_function_table = constant ptr @enceladus_functions\n";
  out += "module asm \".text\"\n";
  // Called while the object is loaded, before the table is filled.
  out +=
      "module asm \".hidden __tsan_init\"\nmodule asm \".globl __tsan_init\"\n"
      "module asm \"__tsan_init: ret\"\n";
  for (size_t i = 0; i < functions.size(); ++i) {
    std::string name(functions[i]);
    out += "module asm \".globl " + name + "\"\nmodule asm \".hidden " + name +
           "\"\nmodule asm \"" + name + ": jmp *enceladus_functions+" + std::to_string(8 * i) +
           "(%rip)\"\n";
  }
}

}  // namespace

std::string rewrite_ir(std::string_view ir, std::span<const std::string_view> runtime_functions) {
  std::string out;
  out.reserve(ir.size() + 16384);
  std::vector<ThreadgroupVariable> variables;
  for (size_t begin = 0; begin < ir.size();) {
    size_t end = std::min(ir.find('\n', begin), ir.size());
    std::string_view line = ir.substr(begin, end - begin);
    if (std::optional<ThreadgroupVariable> variable = match(line)) {
      append_variable(out, *variable);
      variables.push_back(*variable);
    } else {
      out.append(line);
      out += '\n';
    }
    begin = end + 1;
  }
  append_table(out, variables);
  append_stubs(out, runtime_functions);
  return out;
}

}  // namespace enceladus::simulator
