#include "simulator/template_kernels.h"

#include <algorithm>
#include <regex>

#include "simulator/errors.h"

namespace enceladus::simulator {
namespace {

// A stretch of the text.
struct Extent {
  size_t begin;
  size_t end;
};

struct Instantiation {
  Extent extent;
  std::string host_name;
  std::string kernel;
  std::vector<std::string> arguments;
};

struct Template {
  Extent header;  // `template <...>`
  Extent extent;  // with its body
  std::vector<std::string> parameters;
};

[[noreturn]] void fail(std::string_view text, size_t offset, const std::string& message) {
  auto line = static_cast<uint32_t>(1 + std::count(text.begin(), text.begin() + offset, '\n'));
  throw MslError("line " + std::to_string(line) + ": " + message, {{line, 0, message}});
}

std::string trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, end + 1 - begin));
}

// The parts between commas that no bracket encloses.
std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      parts.push_back(trimmed(list.substr(begin, i - begin)));
      begin = i + 1;
      continue;
    }
    if (list[i] == '<' || list[i] == '(') ++depth;
    if (list[i] == '>' || list[i] == ')') --depth;
  }
  return parts;
}

// "typename T" -> "T", "int N = 4" -> "N"
std::string declared_name(const std::string& parameter) {
  std::string name = trimmed(parameter.substr(0, parameter.find('=')));
  return name.substr(name.find_last_of(" \t\n") + 1);
}

std::vector<Instantiation> instantiations_of(const std::string& text) {
  static const std::regex kStatement(R"re(template\s*\[\[[^\]]*host_name\("(\w+)"\)[^;]*;)re");
  static const std::regex kInstance(R"((\w+)\s*<([^;]*)>\s*(?:\([^;]*)?;$)");
  std::vector<Instantiation> found;
  if (text.find("host_name(") == std::string::npos) return found;
  for (std::sregex_iterator at(text.begin(), text.end(), kStatement), end; at != end; ++at) {
    std::string statement = (*at)[0];
    // `decltype(k<float>) k<float>;` names the kernel twice: the last one counts.
    size_t closing = statement.rfind(") ");
    size_t decltype_at = statement.find("decltype(");
    bool by_type = decltype_at != std::string::npos && closing != std::string::npos;
    std::string named = by_type ? statement.substr(closing + 1) : statement;
    std::smatch instance;
    auto begin = static_cast<size_t>(at->position(0));
    if (!std::regex_search(named, instance, kInstance)) {
      fail(text, begin, "an instantiation of `" + (*at)[1].str() + "` that is not understood");
    }
    found.push_back({{begin, begin + statement.size()},
                     (*at)[1],
                     instance[1],
                     split(std::string(instance[2]))});
  }
  return found;
}

size_t end_of_body(const std::string& text, size_t from) {
  int depth = 0;
  for (size_t i = text.find('{', from); i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i + 1;
  }
  return text.size();
}

Template template_of(const std::string& text, const std::string& kernel) {
  std::regex definition(R"(template\s*<([^{};]*?)>\s*(?:\[\[[^\]]*\]\]\s*)*(?:kernel\s+)?void\s+)" +
                        kernel + R"(\s*\()");
  std::smatch found;
  if (!std::regex_search(text, found, definition)) {
    fail(text, 0, "there is no template of a kernel `" + kernel + "`");
  }
  auto begin = static_cast<size_t>(found.position(0));
  auto header_end = static_cast<size_t>(found.position(1) + found.length(1)) + 1;
  Template result{{begin, header_end}, {begin, end_of_body(text, begin)}, {}};
  for (const std::string& one : split(std::string(found[1]))) {
    result.parameters.push_back(declared_name(one));
  }
  return result;
}

// Everything but the ends of lines becomes a space.
void blank(std::string& text, const Extent& extent) {
  for (size_t i = extent.begin; i < extent.end; ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

std::string with_word(const std::string& text, const std::string& word, const std::string& value) {
  return std::regex_replace(text, std::regex("\\b" + word + "\\b"), value);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// Puts the instance in the template's place.
void instantiate(std::string& text, const Instantiation& wanted) {
  Template made = template_of(text, wanted.kernel);
  if (made.parameters.size() != wanted.arguments.size()) {
    fail(text, wanted.extent.begin,
         "`" + wanted.kernel + "` takes " + std::to_string(made.parameters.size()) +
             " template arguments, not " + std::to_string(wanted.arguments.size()));
  }
  blank(text, made.header);
  std::string body = text.substr(made.extent.begin, made.extent.end - made.extent.begin);
  body = with_word(body, wanted.kernel, wanted.host_name);
  for (size_t i = 0; i < made.parameters.size(); ++i) {
    body = with_word(body, made.parameters[i], wanted.arguments[i]);
  }
  text.replace(made.extent.begin, made.extent.end - made.extent.begin, body);
}

}  // namespace

std::vector<std::string> template_kernel_names(std::string_view msl) {
  std::vector<std::string> names;
  for (const Instantiation& one : instantiations_of(std::string(msl))) {
    names.push_back(one.host_name);
  }
  return names;
}

std::string with_template_kernel(std::string_view msl, std::string_view entry) {
  std::string text(msl);
  replace_all(text, "[[kernel]]", "  kernel  ");
  std::vector<Instantiation> all = instantiations_of(text);
  std::vector<std::string> kernels;
  const Instantiation* wanted = nullptr;
  for (const Instantiation& one : all) {
    blank(text, one.extent);
    if (one.host_name == entry) wanted = &one;
    if (std::find(kernels.begin(), kernels.end(), one.kernel) == kernels.end()) {
      kernels.push_back(one.kernel);
    }
  }
  for (const std::string& kernel : kernels) {
    if (wanted == nullptr || kernel != wanted->kernel) {
      blank(text, template_of(text, kernel).extent);
    }
  }
  if (wanted != nullptr) instantiate(text, *wanted);
  return text;
}

}  // namespace enceladus::simulator
