#include "ir/text_cursor.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/builder.h"
#include "ir/parser.h"

namespace enceladus::ir {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

template <typename Number>
bool read_number(std::string_view text, Number* value, int base = 10) {
  std::from_chars_result result = [&] {
    if constexpr (std::is_floating_point_v<Number>)
      return std::from_chars(text.data(), text.data() + text.size(), *value);
    else
      return std::from_chars(text.data(), text.data() + text.size(), *value, base);
  }();
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace

void TextCursor::fail(const std::string& message) const {
  // The end of the last word that was read: looking ahead has skipped the space behind it.
  size_t end = std::min(position_, text_.size());
  while (end > 0 && std::isspace(static_cast<unsigned char>(text_[end - 1]))) --end;
  size_t line = 1 + static_cast<size_t>(std::count(text_.begin(), text_.begin() + end, '\n'));
  size_t start = end == 0 ? std::string_view::npos : text_.rfind('\n', end - 1);
  size_t column = start == std::string_view::npos ? end + 1 : end - start;
  throw ParseError(std::to_string(line) + ":" + std::to_string(column) + ": " + message);
}

void TextCursor::skip_space() {
  while (position_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[position_]))) {
      ++position_;
    } else if (text_.substr(position_).starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

bool TextCursor::at_end() {
  skip_space();
  return position_ >= text_.size();
}

bool TextCursor::next_is(std::string_view word) {
  skip_space();
  if (!text_.substr(position_).starts_with(word)) return false;
  size_t end = position_ + word.size();
  bool splits_a_word = is_word(word.back()) && end < text_.size() && is_word(text_[end]);
  return !splits_a_word;
}

bool TextCursor::accept(std::string_view word) {
  if (!next_is(word)) return false;
  position_ += word.size();
  return true;
}

void TextCursor::expect(std::string_view word) {
  if (!accept(word)) fail("expected `" + std::string(word) + "`");
}

bool TextCursor::next_is_assignment() {
  skip_space();
  size_t start = position_;
  std::string_view name = take_while(is_word);
  bool found = !name.empty() && next_is("=");
  position_ = start;
  return found;
}

template <typename Predicate>
std::string_view TextCursor::take_while(const Predicate& predicate) {
  size_t start = position_;
  while (position_ < text_.size() && predicate(text_[position_])) ++position_;
  return text_.substr(start, position_ - start);
}

std::string_view TextCursor::identifier() {
  skip_space();
  std::string_view word = take_while(is_word);
  if (word.empty()) fail("expected a word");
  return word;
}

std::string_view TextCursor::value_name() {
  expect("%");
  std::string_view name = take_while([](char c) { return is_word(c) || c == '.'; });
  if (name.empty()) fail("expected a value's name behind `%`");
  return name;
}

int64_t TextCursor::integer() {
  std::string_view word = literal();
  int64_t value = 0;
  if (!read_number(word, &value))
    fail("expected a whole number, found `" + std::string(word) + "`");
  return value;
}

std::string TextCursor::text() {
  expect("\"");
  std::string result;
  while (position_ < text_.size() && text_[position_] != '"') {
    char c = text_[position_++];
    if (c == '\\' && position_ < text_.size()) {
      c = text_[position_++];
      if (c == 'n') c = '\n';
    }
    result += c;
  }
  if (position_ >= text_.size()) fail("a text does not end");
  ++position_;
  return result;
}

Type TextCursor::type() {
  skip_space();
  size_t start = position_;
  std::string_view word = take_while([](char c) { return is_word(c) || c == '<' || c == '>'; });
  Type type = type_of(word);
  if (!type.is_none()) return type;
  position_ = start;
  fail("expected a type, found `" + std::string(word) + "`");
}

// None where the word is no type.
Type TextCursor::type_of(std::string_view word) const {
  bool descriptor = word.starts_with("desc<");
  std::vector<int64_t> shape;
  if ((descriptor || word.starts_with("tile<")) && word.ends_with(">")) {
    word = word.substr(5, word.size() - 6);
    while (!word.empty() && std::isdigit(static_cast<unsigned char>(word.front()))) {
      size_t end = std::min(word.find('x'), word.size());
      int64_t extent = 0;
      if (!read_number(word.substr(0, end), &extent)) return {};
      shape.push_back(extent);
      word.remove_prefix(std::min(end + 1, word.size()));
    }
    if (shape.empty() || shape.size() > kMaxRank) return {};
  }
  bool pointer = word.starts_with("ptr<") && word.ends_with(">");
  if (pointer) word = word.substr(4, word.size() - 5);
  std::optional<DType> dtype = dtype_from_text_name(word);
  if (!dtype || (pointer && descriptor)) return {};
  if (descriptor) return Type::descriptor(*dtype, shape);
  return pointer ? Type::pointer(*dtype, shape) : Type::number(*dtype, shape);
}

std::string_view TextCursor::literal() {
  skip_space();
  std::string_view word =
      take_while([](char c) { return is_word(c) || c == '-' || c == '+' || c == '.'; });
  if (word.empty()) fail("expected a number");
  return word;
}

uint64_t TextCursor::constant_of(std::string_view literal, DType dtype) const {
  uint64_t bits = 0;
  if (literal.starts_with("0x") && read_number(literal.substr(2), &bits, 16)) return bits;
  if (is_bool(dtype) && (literal == "true" || literal == "false")) return literal == "true";
  int64_t whole = 0;
  double value = 0;
  float narrow = 0;
  bool fits = false;
  if (dtype == DType::kUInt64) {
    fits = read_number(literal, &bits);
  } else if (is_integer(dtype)) {
    fits = read_number(literal, &whole);
    bits = bits_of_integer(dtype, whole);
    fits = fits && integer_of_bits(dtype, bits) == whole;
  } else if (dtype == DType::kFloat32) {
    fits = read_number(literal, &narrow);
    bits = bits_of(dtype, narrow);
  } else {
    fits = read_number(literal, &value);
    bits = bits_of(dtype, value);
  }
  if (!fits) fail("`" + std::string(literal) + "` is no " + std::string(info(dtype).text_name));
  return bits;
}

}  // namespace enceladus::ir
