#include "support/check.h"

#include <cstring>

namespace enceladus {

void check_failed(const char* file, int line, const char* condition, const std::string& detail) {
  const char* source = std::strstr(file, "src/");
  std::string message = "internal error at " + std::string(source ? source : file) + ":" +
                        std::to_string(line) + ": `" + condition + "` does not hold";
  if (!detail.empty()) message += ": " + detail;
  message += ". This is a bug in Enceladus; please report it with the kernel that shows it.";
  throw InternalError(message);
}

}  // namespace enceladus
