#include "runtime/metal/source_error.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <vector>

namespace enceladus::metal {
namespace {

constexpr std::string_view kPrefix = "program_source:";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string trimmed(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string::npos ? "" : line.substr(first);
}

// "softmax.py:12" of the nearest comment at or above the line; empty where there is none.
std::string kernel_line(const std::vector<std::string>& source, size_t line) {
  for (size_t i = std::min(line, source.size()); i > 0; --i) {
    const std::string text = trimmed(source[i - 1]);
    if (text.starts_with("kernel ")) break;
    const size_t end = text.find(".py:");
    if (text.starts_with("// ") && end != std::string::npos) return text.substr(3);
  }
  return "";
}

// The number behind the prefix; 0 where the line has none.
size_t reported_line(const std::string& message) {
  if (!message.starts_with(kPrefix)) return 0;
  size_t number = 0;
  std::from_chars(message.data() + kPrefix.size(), message.data() + message.size(), number);
  return number;
}

}  // namespace

std::string explain_source_error(const std::string& messages, const std::string& source) {
  const std::vector<std::string> source_lines = lines_of(source);
  std::string result;
  for (const std::string& message : lines_of(messages)) {
    if (!result.empty()) result += "\n";
    const size_t number = reported_line(message);
    if (number == 0 || number > source_lines.size()) {
      result += message;
      continue;
    }
    const std::string origin = kernel_line(source_lines, number);
    result += "MSL:" + message.substr(kPrefix.size());
    if (!origin.empty()) result += " (from " + origin + ")";
    result += "\n    | " + trimmed(source_lines[number - 1]);
  }
  return result;
}

}  // namespace enceladus::metal
