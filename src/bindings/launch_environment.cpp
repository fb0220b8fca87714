#include "bindings/launch_environment.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#ifdef __APPLE__
#include <crt_externs.h>
#else
#include <unistd.h>
#endif

namespace enceladus {
namespace {

char** process_environment() {
#ifdef __APPLE__
  return *_NSGetEnviron();
#else
  return environ;
#endif
}

// As parse_switch of enceladus/_environment.py.
bool is_on(std::string_view text) {
  std::string plain;
  for (char letter : text)
    if (std::strchr(" \t\r\n", letter) == nullptr)
      plain += static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  return plain != "" && plain != "0" && plain != "false" && plain != "no" && plain != "off";
}

LaunchSwitches read_environment() {
  constexpr std::string_view kPrefix = "ENCELADUS_";
  LaunchSwitches switches;
  for (char** entry = process_environment(); entry != nullptr && *entry != nullptr; ++entry) {
    const char* text = *entry;
    if (text[0] != 'E' || std::strncmp(text, kPrefix.data(), kPrefix.size()) != 0) continue;
    std::string_view rest(text + kPrefix.size());
    if (rest.starts_with("INTERPRET=")) switches.interpret = is_on(rest.substr(10));
    if (rest.starts_with("DEBUG=")) switches.debug = is_on(rest.substr(6));
  }
  return switches;
}

#ifdef __GLIBC__
// glibc's setenv replaces strings and never changes one, so the same pointers are the same text.
// An array at the same address is as long as it was: setenv and unsetenv move pointers within it.
struct Seen {
  char** environment = nullptr;
  std::vector<char*> strings;  // the null at the end included
  LaunchSwitches switches;

  bool is_current() const {
    return environment != nullptr && environment == process_environment() &&
           std::memcmp(environment, strings.data(), strings.size() * sizeof(char*)) == 0;
  }
  void read() {
    environment = process_environment();
    strings.clear();
    for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry)
      strings.push_back(*entry);
    strings.push_back(nullptr);
    switches = read_environment();
  }
};
#endif

}  // namespace

LaunchSwitches read_launch_switches() {
#ifdef __GLIBC__
  static Seen* seen = new Seen;  // under the interpreter lock
  if (!seen->is_current()) seen->read();
  return seen->switches;
#else
  return read_environment();
#endif
}

}  // namespace enceladus
