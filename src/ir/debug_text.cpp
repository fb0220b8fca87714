#include "ir/debug_text.h"

namespace enceladus::ir {

std::string print_label(const Operation& print, int part) {
  std::string label(print.text(AttributeName::kText));
  if (print.operand_count() > 0) {
    while (!label.empty() && label.back() == ' ') label.pop_back();
    if (!label.ends_with(':')) label += ':';
    label += ' ';
  }
  if (!label.starts_with(' ')) label.insert(0, " ");
  if (print.operand_count() > 1) label += "(operand " + std::to_string(part) + ") ";
  return label;
}

std::string place_of(const Operation& op) {
  const Location& location = op.location();
  return (location.known() ? *location.file : std::string("<unknown>")) + ":" +
         std::to_string(location.line);
}

std::string assertion_text(const Operation& assertion) {
  return place_of(assertion) +
         ": assertion failed: " + std::string(assertion.text(AttributeName::kText));
}

}  // namespace enceladus::ir
