// Gives the function constants of an MSL text their values, as Metal does when a function is made:
//
//   constant int width [[function_constant(0)]];   ->   constant int width = (4);
//   is_function_constant_defined(width)            ->   true
//
// Works on the text, line by line the same, since clang knows no such attribute.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace enceladus::simulator {

// Whether the text declares any.
bool has_function_constants(std::string_view msl);

// `values` are MSL expressions by index. Throws MslError for a constant without a value, unless the
// text asks whether it is defined.
std::string with_function_constants(std::string_view msl,
                                    const std::map<uint32_t, std::string>& values);

}  // namespace enceladus::simulator
