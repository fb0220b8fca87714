// Lines of C-family text: indentation, blocks, and the kernel's source lines as comments of their
// own before the statements made from them (`// softmax.py:12`). Deterministic. Not: what the
// lines say.
#pragma once

#include <string>
#include <string_view>

#include "support/diagnostics.h"

namespace enceladus::codegen {

class TextWriter {
 public:
  void line(std::string_view text);
  void blank();
  void open(std::string_view text);  // `text {`, indented from then on
  void close(std::string_view rest = {});
  void otherwise();  // `} else {`
  // A line at the margin, as the preprocessor's.
  void directive(std::string_view text);
  // The place that the next lines come from; a comment is written when the line changes.
  void at(const Location& location);
  // Forgets the place, so that the next `at` writes it again (at the start of a block).
  void forget_place() { place_ = {}; }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
  Location place_;
};

}  // namespace enceladus::codegen
