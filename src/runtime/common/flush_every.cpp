#include "runtime/common/flush_every.h"

#include <climits>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace enceladus {

int32_t flush_every() {
  constexpr int32_t kDefault = 64;
  const char* text = std::getenv("ENCELADUS_FLUSH_EVERY");
  if (!text || !*text) return kDefault;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < 1 || value > INT_MAX)
    throw std::invalid_argument("ENCELADUS_FLUSH_EVERY=" + std::string(text) +
                                " is no number of launches");
  return static_cast<int32_t>(value);
}

}  // namespace enceladus
