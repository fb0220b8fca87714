// Identifiers of emitted text: the user's names where they have one, made unique and kept clear of
// a dialect's reserved words. Not: which values get a name.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace enceladus::codegen {

class Names {
 public:
  // Never given out: the dialect's keywords, types and functions.
  explicit Names(std::span<const std::string_view> reserved);
  // An identifier like `wished` (any text; empty: `v0`, `v1`, ...) that was not given out before.
  std::string unique(std::string_view wished);

 private:
  std::set<std::string, std::less<>> taken_;
  int numbered_ = 0;
};

}  // namespace enceladus::codegen
