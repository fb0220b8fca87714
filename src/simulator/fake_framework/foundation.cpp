#include "simulator/fake_framework/foundation.h"

#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/settings.h"

namespace enceladus::fake_metal {

Result give_text(const std::string& text) { return give(autorelease(make<String>(text))); }

Result give_held(Object* object) {
  retain(object);
  return give(autorelease(object));
}

void write_error(const Message& message, size_t index, const std::string& domain, int64_t code,
                 const std::string& text) {
  auto** place = message.pointer<Object*>(index);
  if (place != nullptr) *place = autorelease(make<Error>(domain, code, text));
}

const Class& String::type() {
  static constexpr Method kMethods[] = {
      method<&String::init_with_utf8>("initWithUTF8String:"),
      method<&String::utf8>("UTF8String"),
      method<&String::length>("length"),
      method<&String::is_equal>("isEqualToString:"),
      method<&String::is_equal>("isEqual:"),
      method<&String::description>("description"),
  };
  static constexpr Method kClassMethods[] = {
      {"stringWithUTF8String:", &String::from_utf8, Failure::kNil}};
  static const Class& type = *new Class(
      {.name = "NSString", .methods = kMethods, .class_methods = kClassMethods, .allocate = [] {
         return make<String>();
       }});
  return type;
}

Result String::from_utf8(Object&, const Message& message) {
  const char* text = message.pointer<const char>(0);
  if (text == nullptr) throw ContractViolation("the text is a null pointer");
  return give_text(text);
}
Result String::init_with_utf8(const Message& message) {
  text_ = message.pointer<const char>(0);
  return give(self());
}
Result String::utf8(const Message&) { return give(text_.c_str()); }
Result String::length(const Message&) { return give(text_.size()); }
Result String::is_equal(const Message& message) {
  const String* other = body_of<String>(message.object(0));
  return give(uint64_t{other != nullptr && other->text_ == text_});
}
Result String::description(const Message&) { return give_held(self()); }

const Class& Array::type() {
  static constexpr Method kMethods[] = {
      method<&Array::count>("count"),
      method<&Array::at>("objectAtIndex:"),
      method<&Array::at>("objectAtIndexedSubscript:"),
      method<&Array::first>("firstObject"),
  };
  static const Class& type = *new Class({.name = "NSArray", .methods = kMethods});
  return type;
}

Result Array::count(const Message&) { return give(items_.size()); }
Result Array::at(const Message& message) {
  uint64_t index = message.integer(0);
  if (index >= items_.size()) {
    throw ContractViolation("index " + std::to_string(index) + " of an array with " +
                            std::to_string(items_.size()) + " objects");
  }
  return give(items_[index].get());
}
Result Array::first(const Message&) {
  return items_.empty() ? kNothing : give(items_.front().get());
}

const Class& Dictionary::type() {
  static constexpr Method kMethods[] = {
      method<&Dictionary::count>("count"),
      method<&Dictionary::for_key>("objectForKey:"),
      method<&Dictionary::for_key>("objectForKeyedSubscript:"),
  };
  static const Class& type = *new Class({.name = "NSDictionary", .methods = kMethods});
  return type;
}

Result Dictionary::count(const Message&) { return give(items_.size()); }
Result Dictionary::for_key(const Message& message) {
  auto found = items_.find(argument<String>(message, 0).text());
  return found == items_.end() ? kNothing : give(found->second.get());
}

Error::Error(std::string domain, int64_t code, std::string text, Ref<Dictionary> details)
    : domain_(std::move(domain)),
      code_(code),
      text_(std::move(text)),
      details_(std::move(details)) {}

const Class& Error::type() {
  static constexpr Method kMethods[] = {
      method<&Error::domain>("domain"),
      method<&Error::code>("code"),
      method<&Error::localized_description>("localizedDescription"),
      method<&Error::localized_description>("description"),
      method<&Error::user_info>("userInfo"),
  };
  static const Class& type = *new Class({.name = "NSError", .methods = kMethods});
  return type;
}

Result Error::domain(const Message&) { return give_text(domain_); }
Result Error::code(const Message&) { return give(static_cast<uint64_t>(code_)); }
Result Error::localized_description(const Message&) { return give_text(text_); }
Result Error::user_info(const Message&) {
  if (!details_) details_ = Ref<Dictionary>::take(make<Dictionary>());
  return give_held(details_.get());
}

const Class& Url::type() {
  static constexpr Method kMethods[] = {method<&Url::path_string>("path")};
  static constexpr Method kClassMethods[] = {{"fileURLWithPath:", &Url::from_path, Failure::kNil}};
  static const Class& type =
      *new Class({.name = "NSURL", .methods = kMethods, .class_methods = kClassMethods});
  return type;
}

Result Url::from_path(Object&, const Message& message) {
  return give(autorelease(make<Url>(argument<String>(message, 0).text())));
}
Result Url::path_string(const Message&) { return give_text(path_); }

const Class& ProcessInfo::type() {
  static constexpr Method kMethods[] = {
      method<&ProcessInfo::is_at_least>("isOperatingSystemAtLeastVersion:")};
  static constexpr Method kClassMethods[] = {{"processInfo", &ProcessInfo::shared}};
  static const Class& type =
      *new Class({.name = "NSProcessInfo", .methods = kMethods, .class_methods = kClassMethods});
  return type;
}

Result ProcessInfo::shared(Object&, const Message&) {
  return give(autorelease(make<ProcessInfo>()));
}
// Three words, as an MTLSize has: major, minor and patch.
Result ProcessInfo::is_at_least(const Message& message) {
  std::array<uint64_t, 3> wanted = message.size(0);
  return give(uint64_t{wanted <= std::array<uint64_t, 3>{kSystemVersion, 0, 0}});
}

}  // namespace enceladus::fake_metal
