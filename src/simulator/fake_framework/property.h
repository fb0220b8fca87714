// Getters and setters of descriptors as entries of a method table.
//
//   method properties: getter<&CompileOptions::logging>("enableLogging"),
//                      setter<&CompileOptions::logging>("setEnableLogging:")
#pragma once

#include <type_traits>

#include "simulator/fake_framework/foundation.h"
#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {
namespace detail {

template <class B, class T>
B owner_of(T B::*);
template <class B, class T>
T type_of(T B::*);

template <class T>
struct held;
template <class B>
struct held<Ref<B>> {
  using type = B;
};

template <auto member>
Result get_property(Object& self, const Message&) {
  auto& value = static_cast<decltype(owner_of(member))&>(*self.body).*member;
  using T = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::is_same_v<T, std::string>) {
    return give_text(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return give(static_cast<uint64_t>(value));
  } else {
    return give_held(value.get());
  }
}

template <auto member>
Result set_property(Object& self, const Message& message) {
  auto& value = static_cast<decltype(owner_of(member))&>(*self.body).*member;
  using T = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::is_same_v<T, std::string>) {
    value = message.object(0) == nullptr ? "" : argument<String>(message, 0).text();
  } else if constexpr (std::is_same_v<T, bool>) {
    value = (message.integer(0) & 0xff) != 0;  // the rest of the register is anything
  } else if constexpr (std::is_arithmetic_v<T>) {
    value = static_cast<T>(message.integer(0));
  } else {
    using B = typename held<T>::type;
    value = T(message.object(0) == nullptr ? nullptr : &argument<B>(message, 0));
  }
  return kNothing;
}

}  // namespace detail

template <auto member>
constexpr Method getter(const char* selector) {
  return {selector, &detail::get_property<member>, Failure::kNever};
}
template <auto member>
constexpr Method setter(const char* selector) {
  return {selector, &detail::set_property<member>, Failure::kNever};
}

}  // namespace enceladus::fake_metal
