#include "simulator/kernel_signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "simulator/errors.h"
#include "simulator/template_kernels.h"

namespace enceladus::simulator {
namespace {

struct Token {
  std::string_view text;
  size_t begin;  // in the MSL text
};

constexpr std::array<std::pair<std::string_view, Builtin>, 12> kBuiltins = {{
    {"thread_position_in_grid", Builtin::kThreadPositionInGrid},
    {"thread_position_in_threadgroup", Builtin::kThreadPositionInThreadgroup},
    {"threadgroup_position_in_grid", Builtin::kThreadgroupPositionInGrid},
    {"thread_index_in_threadgroup", Builtin::kThreadIndexInThreadgroup},
    {"thread_index_in_simdgroup", Builtin::kThreadIndexInSimdgroup},
    {"simdgroup_index_in_threadgroup", Builtin::kSimdgroupIndexInThreadgroup},
    {"threads_per_grid", Builtin::kThreadsPerGrid},
    {"threads_per_threadgroup", Builtin::kThreadsPerThreadgroup},
    {"threadgroups_per_grid", Builtin::kThreadgroupsPerGrid},
    {"threads_per_simdgroup", Builtin::kThreadsPerSimdgroup},
    {"thread_execution_width", Builtin::kThreadsPerSimdgroup},
    {"simdgroups_per_threadgroup", Builtin::kSimdgroupsPerThreadgroup},
}};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Words and single characters; comments, strings and preprocessor lines are left out.
std::vector<Token> tokenize(std::string_view text) {
  std::vector<Token> tokens;
  auto skip_to = [&](size_t from, std::string_view end) {
    size_t at = text.find(end, from);
    return at == std::string_view::npos ? text.size() : at + end.size();
  };
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
    } else if (text.substr(i, 2) == "//" || c == '#') {
      i = skip_to(i, "\n");
    } else if (text.substr(i, 2) == "/*") {
      i = skip_to(i + 2, "*/");
    } else if (c == '"') {
      i = skip_to(i + 1, "\"");
    } else {
      size_t begin = i;
      if (is_word(c)) {
        while (i < text.size() && is_word(text[i])) ++i;
      } else {
        ++i;
      }
      tokens.push_back({text.substr(begin, i - begin), begin});
    }
  }
  return tokens;
}

uint32_t line_of(std::string_view text, size_t offset) {
  return 1 + static_cast<uint32_t>(std::count(text.begin(), text.begin() + offset, '\n'));
}

class Reader {
 public:
  Reader(std::string_view msl, std::string_view entry)
      : msl_(msl), entry_(entry), tokens_(tokenize(msl)) {}

  std::vector<std::string> kernels() const {
    std::vector<std::string> names;
    for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (names_kernel(i)) names.emplace_back(text(i));
    }
    return names;
  }

  KernelSignature read() {
    KernelSignature signature;
    signature.name = std::string(entry_);
    size_t at = find_kernel();
    signature.line = line_of(msl_, tokens_[at].begin);
    read_thread_limit(at, signature);
    at += 2;
    while (tokens_[at].text != ")") {
      size_t end = end_of_parameter(at);
      signature.parameters.push_back(read_parameter(at, end));
      at = tokens_[end].text == "," ? end + 1 : end;
    }
    number_buffers(signature);
    return signature;
  }

 private:
  [[noreturn]] void fail(size_t offset, const std::string& text) const {
    uint32_t line = line_of(msl_, std::min(offset, msl_.size()));
    throw MslError("line " + std::to_string(line) + ": " + text, {{line, 0, text}});
  }

  std::string_view text(size_t at) const { return at < tokens_.size() ? tokens_[at].text : ""; }

  // Whether the token is the name in `kernel void NAME (`.
  bool names_kernel(size_t i) const {
    if (text(i + 1) != "(" || text(i - 1) != "void") return false;
    for (size_t back = i - 1; back > 0 && i - back < 24; --back) {
      std::string_view word = text(back - 1);
      if (word == "kernel") return true;
      if (word == ";" || word == "}" || word == "{") break;
    }
    return false;
  }

  size_t find_kernel() const {
    for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (text(i) == entry_ && names_kernel(i)) return i;
    }
    fail(0, "there is no `kernel void " + std::string(entry_) + "(...)`");
  }

  // [[max_total_threads_per_threadgroup(N)]] stands before `void`.
  void read_thread_limit(size_t name, KernelSignature& signature) const {
    for (size_t back = name; back > 0 && name - back < 24; --back) {
      if (text(back) == "max_total_threads_per_threadgroup") {
        signature.max_total_threads =
            static_cast<uint32_t>(std::strtoul(std::string(text(back + 2)).c_str(), nullptr, 10));
      }
      if (text(back) == ";" || text(back) == "}") return;
    }
  }

  size_t end_of_parameter(size_t at) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      char c = text(at)[0];
      if (depth == 0 && (c == ',' || c == ')')) return at;
      if (c == '(' || c == '[' || c == '<' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '>' || c == '}') --depth;
    }
    fail(msl_.size(), "the parameter list of `" + std::string(entry_) + "` does not end");
  }

  KernelParameter read_parameter(size_t at, size_t end) const {
    KernelParameter parameter;
    size_t begin = at;
    std::vector<std::string_view> declaration;
    bool has_attribute = false;
    for (; at < end; ++at) {
      if (text(at) == "[" && text(at + 1) == "[") {
        has_attribute = read_attribute(at + 2, parameter) || has_attribute;
        while (at < end && !(text(at) == "]" && text(at + 1) == "]")) ++at;
        ++at;
      } else {
        declaration.push_back(text(at));
      }
    }
    if (declaration.size() < 2) fail(tokens_[begin].begin, "a kernel parameter has no name");
    parameter.name = std::string(declaration.back());
    declaration.pop_back();
    bool is_pointer = false;
    for (std::string_view word : declaration) {
      is_pointer = is_pointer || word == "*";
      parameter.is_reference = parameter.is_reference || word == "&";
      parameter.is_const = parameter.is_const || word == "const" || word == "constant";
      if (word == "&") continue;
      parameter.type += (parameter.type.empty() ? "" : " ") + std::string(word);
    }
    classify(declaration, is_pointer, has_attribute, tokens_[begin].begin, parameter);
    return parameter;
  }

  // Reads `buffer(1)`, `threadgroup(0)` or the name of a built-in value.
  bool read_attribute(size_t at, KernelParameter& parameter) const {
    std::string_view word = text(at);
    if (word == "buffer" || word == "threadgroup") {
      parameter.kind = word == "buffer" ? ParameterKind::kBuffer : ParameterKind::kThreadgroup;
      std::string number(text(at + 2));
      if (number.empty() || !std::all_of(number.begin(), number.end(), ::isdigit)) {
        fail(tokens_[at].begin, "the slot of `" + std::string(word) + "(...)` must be a number");
      }
      parameter.slot = static_cast<uint32_t>(std::stoul(number));
      return true;
    }
    for (const auto& [name, builtin] : kBuiltins) {
      if (word != name) continue;
      parameter.kind = ParameterKind::kBuiltin;
      parameter.builtin = builtin;
      return true;
    }
    return false;
  }

  void classify(const std::vector<std::string_view>& declaration, bool is_pointer,
                bool has_attribute, size_t offset, KernelParameter& parameter) const {
    bool in_memory = is_pointer || parameter.is_reference;
    if (!in_memory) {
      if (has_attribute && parameter.kind == ParameterKind::kBuiltin) return;
      fail(offset, "parameter `" + parameter.name +
                       "` is neither a pointer, a reference nor a built-in value");
    }
    auto has = [&](std::string_view word) {
      return std::find(declaration.begin(), declaration.end(), word) != declaration.end();
    };
    if (has("threadgroup")) {
      parameter.kind = ParameterKind::kThreadgroup;
    } else if (has("constant")) {
      parameter.kind = ParameterKind::kConstant;
    } else if (has("device")) {
      parameter.kind = ParameterKind::kBuffer;
    } else {
      fail(offset, "parameter `" + parameter.name +
                       "` needs an address space: device, constant or threadgroup");
    }
    if (!has_attribute) parameter.slot = kUnnumbered;
  }

  // Slots without an attribute are taken in order from those that no attribute names.
  static void number_buffers(KernelSignature& signature) {
    for (bool threadgroup : {false, true}) {
      std::set<uint32_t> taken;
      auto matches = [&](const KernelParameter& parameter) {
        return parameter.kind != ParameterKind::kBuiltin &&
               (parameter.kind == ParameterKind::kThreadgroup) == threadgroup;
      };
      for (const KernelParameter& parameter : signature.parameters) {
        if (matches(parameter)) taken.insert(parameter.slot);
      }
      uint32_t next = 0;
      for (KernelParameter& parameter : signature.parameters) {
        if (!matches(parameter) || parameter.slot != kUnnumbered) continue;
        while (taken.count(next) != 0) ++next;
        parameter.slot = next++;
      }
    }
  }

  static constexpr uint32_t kUnnumbered = UINT32_MAX;

  std::string_view msl_;
  std::string_view entry_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<std::string> kernel_names(std::string_view msl) {
  std::vector<std::string> names = Reader(with_template_kernel(msl, ""), "").kernels();
  for (std::string& name : template_kernel_names(msl)) names.push_back(std::move(name));
  return names;
}

KernelSignature read_signature(std::string_view msl, std::string_view entry) {
  return Reader(msl, entry).read();
}

std::string entry_function(const KernelSignature& signature) {
  std::string text =
      "\n#line 1 \"enceladus_entry\"\n"
      "extern \"C\" __attribute__((no_sanitize(\"thread\"))) void enceladus_entry(\n"
      "    const thread ulong* enceladus_slots, const thread uint* enceladus_builtins) {\n"
      "  [[clang::noinline]] " +
      signature.name + "(";
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const KernelParameter& parameter = signature.parameters[i];
    std::string index = std::to_string(i);
    if (i > 0) text += ", ";
    if (parameter.kind == ParameterKind::kBuiltin) {
      int first = 3 * static_cast<int>(parameter.builtin);
      text += "metal::enceladus::builtin<" + parameter.type + ">::read(enceladus_builtins + " +
              std::to_string(first) + ")";
    } else if (parameter.is_reference) {
      text += "*(" + parameter.type + "*)enceladus_slots[" + index + "]";
    } else {
      text += "(" + parameter.type + ")enceladus_slots[" + index + "]";
    }
  }
  return text + ");\n}\n";
}

}  // namespace enceladus::simulator
