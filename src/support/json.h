// Writes JSON text: objects and lists of strings, numbers and booleans. For reports that Python
// reads; nothing here parses.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace enceladus {

class JsonWriter {
 public:
  // Every begin has its end. `name` is the key inside an object; empty inside a list and at the
  // top.
  void begin_object(std::string_view name = {}) { open(name, '{'); }
  void end_object() { close('}'); }
  void begin_list(std::string_view name = {}) { open(name, '['); }
  void end_list() { close(']'); }

  void field(std::string_view name, std::string_view value) {
    separate(name);
    quote(value);
  }
  void field(std::string_view name, const char* value) { field(name, std::string_view(value)); }
  void field(std::string_view name, int64_t value) {
    separate(name);
    text_ += std::to_string(value);
  }
  void field(std::string_view name, int32_t value) { field(name, int64_t{value}); }
  void field(std::string_view name, bool value) {
    separate(name);
    text_ += value ? "true" : "false";
  }

  const std::string& text() const { return text_; }

 private:
  void open(std::string_view name, char bracket) {
    separate(name);
    text_ += bracket;
    is_first_ = true;
  }
  void close(char bracket) {
    text_ += bracket;
    is_first_ = false;
  }
  void separate(std::string_view name) {
    if (!is_first_) text_ += ", ";
    is_first_ = false;
    if (name.empty()) return;
    quote(name);
    text_ += ": ";
  }
  void quote(std::string_view value) {
    text_ += '"';
    for (char letter : value) {
      if (letter == '"' || letter == '\\') text_ += '\\';
      if (static_cast<unsigned char>(letter) >= 0x20) {
        text_ += letter;
        continue;
      }
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(letter));
      text_ += escape;
    }
    text_ += '"';
  }

  std::string text_;
  bool is_first_ = true;
};

}  // namespace enceladus
