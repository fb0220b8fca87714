// ENC_CHECK: our own mistakes. A failed check throws InternalError, which travels to Python as an
// exception that asks for a report; it never takes the process down. Not for the user's mistakes
// (support/diagnostics.h) nor for the environment's (std::system_error and friends).
#pragma once

#include <stdexcept>
#include <string>

namespace enceladus {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& detail);

}  // namespace enceladus

#define ENC_CHECK(condition, ...)                                                          \
  do {                                                                                     \
    if (!(condition)) [[unlikely]]                                                         \
      ::enceladus::check_failed(__FILE__, __LINE__, #condition, std::string{__VA_ARGS__}); \
  } while (false)
