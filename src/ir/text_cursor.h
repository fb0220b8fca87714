// A place in IR text with the small readers the parser is made of. Spaces, line breaks and
// `//` comments separate words and mean nothing else.
#pragma once

#include <string>
#include <string_view>

#include "ir/type.h"

namespace enceladus::ir {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  [[noreturn]] void fail(const std::string& message) const;  // throws ParseError
  bool at_end();
  bool next_is(std::string_view word);  // looks, does not move
  bool accept(std::string_view word);   // moves behind it where it is next
  void expect(std::string_view word);
  // `name =`: how an attribute list is told from a region.
  bool next_is_assignment();

  std::string_view identifier();  // letters, digits, `_`
  std::string_view value_name();  // behind `%`: letters, digits, `_`, `.`
  int64_t integer();
  std::string text();  // in double quotes
  Type type();
  // The raw word of a constant, read before its type is known.
  std::string_view literal();
  uint64_t constant_of(std::string_view literal, DType dtype) const;

 private:
  void skip_space();
  template <typename Predicate>
  std::string_view take_while(const Predicate& predicate);
  Type type_of(std::string_view word) const;

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace enceladus::ir
