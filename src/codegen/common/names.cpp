#include "codegen/common/names.h"

#include <cctype>

namespace enceladus::codegen {

Names::Names(std::span<const std::string_view> reserved) {
  for (std::string_view word : reserved) taken_.emplace(word);
}

std::string Names::unique(std::string_view wished) {
  if (wished.empty()) {
    std::string name;
    do name = "v" + std::to_string(numbered_++);
    while (!taken_.insert(name).second);
    return name;
  }
  std::string base;
  for (char c : wished) base += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  // Names that start with an underscore or hold two belong to the implementation.
  while (base.starts_with('_')) base.erase(0, 1);
  for (size_t at; (at = base.find("__")) != std::string::npos;) base.erase(at, 1);
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base.front()))) base.insert(0, "v");
  std::string name = base;
  for (int count = 1; !taken_.insert(name).second; ++count)
    name = base + "_" + std::to_string(count);
  return name;
}

}  // namespace enceladus::codegen
