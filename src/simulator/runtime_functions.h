// The functions that a simulated kernel calls: the callbacks of ThreadSanitizer's instrumentation,
// what our Metal headers ask of the runtime, and the functions of libm and libc that clang emits.
// The names go into the kernel's object, the addresses into its table when it is loaded.
#pragma once

#include <span>
#include <string_view>

namespace enceladus::simulator {

std::span<const std::string_view> runtime_function_names();
// In the same order.
std::span<void* const> runtime_function_addresses();

}  // namespace enceladus::simulator
