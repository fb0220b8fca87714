#include "simulator/function_constants.h"

#include <algorithm>
#include <regex>

#include "simulator/errors.h"

namespace enceladus::simulator {
namespace {

const std::regex& declaration() {
  static const std::regex kDeclaration(
      R"((\w+)\s*\[\[\s*function_constant\s*\(\s*(\d+)\s*\)\s*\]\])");
  return kDeclaration;
}

std::string asks_for(const std::string& name) {
  return "is_function_constant_defined\\s*\\(\\s*" + name + "\\s*\\)";
}

}  // namespace

bool has_function_constants(std::string_view msl) {
  return msl.find("function_constant(") != std::string_view::npos;
}

std::string with_function_constants(std::string_view msl,
                                    const std::map<uint32_t, std::string>& values) {
  std::string text(msl);
  std::smatch found;
  while (std::regex_search(text, found, declaration())) {
    std::string name = found[1];
    auto index = static_cast<uint32_t>(std::stoul(found[2]));
    auto value = values.find(index);
    bool defined = value != values.end();
    std::regex question(asks_for(name));
    if (!defined && !std::regex_search(text, question)) {
      auto line = static_cast<uint32_t>(1 + std::count(text.cbegin(), found[0].first, '\n'));
      std::string message =
          "function constant `" + name + "` (index " + std::to_string(index) + ") has no value";
      throw MslError("line " + std::to_string(line) + ": " + message, {{line, 0, message}});
    }
    std::string definition = name + " = " + (defined ? "(" + value->second + ")" : "0");
    text.replace(found.position(0), found.length(0), definition);
    text = std::regex_replace(text, question, defined ? "true" : "false");
  }
  return text;
}

}  // namespace enceladus::simulator
