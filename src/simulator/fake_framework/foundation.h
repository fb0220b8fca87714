// The few classes of Foundation that Metal's host interface speaks with: strings, errors, lists,
// dictionaries, URLs. Immutable.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

class String : public Body {
 public:
  static const Class& type();
  explicit String(std::string text = "") : text_(std::move(text)) {}
  const std::string& text() const { return text_; }

  static Result from_utf8(Object& self, const Message& message);
  Result init_with_utf8(const Message& message);
  Result utf8(const Message& message);
  Result length(const Message& message);
  Result is_equal(const Message& message);
  Result description(const Message& message);

 private:
  std::string text_;
};

class Array : public Body {
 public:
  static const Class& type();
  explicit Array(std::vector<Ref<Body>> items = {}) : items_(std::move(items)) {}

  Result count(const Message& message);
  Result at(const Message& message);
  Result first(const Message& message);

 private:
  std::vector<Ref<Body>> items_;
};

class Dictionary : public Body {
 public:
  static const Class& type();
  explicit Dictionary(std::map<std::string, Ref<Body>> items = {}) : items_(std::move(items)) {}

  Result count(const Message& message);
  Result for_key(const Message& message);

 private:
  std::map<std::string, Ref<Body>> items_;
};

class Error : public Body {
 public:
  static const Class& type();
  Error(std::string domain, int64_t code, std::string text, Ref<Dictionary> details = {});

  const std::string& text() const { return text_; }
  Result domain(const Message& message);
  Result code(const Message& message);
  Result localized_description(const Message& message);
  Result user_info(const Message& message);

 private:
  std::string domain_;
  int64_t code_;
  std::string text_;
  Ref<Dictionary> details_;
};

class Url : public Body {
 public:
  static const Class& type();
  explicit Url(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

  static Result from_path(Object& self, const Message& message);
  Result path_string(const Message& message);

 private:
  std::string path_;
};

class ProcessInfo : public Body {
 public:
  static const Class& type();
  static Result shared(Object& self, const Message& message);
  Result is_at_least(const Message& message);
};

// Domains that are not Apple's.
inline constexpr const char* kInjectedDomain = "EnceladusInjectedFailure";
inline constexpr const char* kSimulatorDomain = "EnceladusSimulator";

// An autoreleased string.
Result give_text(const std::string& text);
// An object that somebody else goes on to hold: retained and autoreleased.
Result give_held(Object* object);
// Puts an autoreleased error where the NSError** argument points, unless it is null.
void write_error(const Message& message, size_t index, const std::string& domain, int64_t code,
                 const std::string& text);

}  // namespace enceladus::fake_metal
