// Why something does not qualify for a faster form: thrown and caught within one file's matching,
// so that each condition is one line. Never leaves a matcher: what it refuses takes the general
// form.
#pragma once

#include <string>

namespace enceladus::simt {

struct Refusal {
  std::string reason;
};

inline void require(bool condition, const char* reason) {
  if (!condition) throw Refusal{reason};
}

}  // namespace enceladus::simt
