// The headers of `metal_stdlib`, built into the library so that there is nothing to install.
#pragma once

#include <span>
#include <string_view>

namespace enceladus::simulator {

struct MetalHeader {
  std::string_view name;  // as in #include, for example "enceladus/vectors.h"
  std::string_view text;
};

std::span<const MetalHeader> metal_headers();

}  // namespace enceladus::simulator
