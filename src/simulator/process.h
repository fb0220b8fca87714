// Runs other programs: finding them, waiting for them, collecting what they print.
#pragma once

#include <string>
#include <vector>

namespace enceladus::simulator {

struct ProcessResult {
  int exit_code = -1;  // negative: killed by that signal
  std::string output;
  std::string errors;
};

// The full path of the first of the names that the search path has, or an empty string. A name
// with a slash is taken as it is.
std::string find_program(const std::vector<std::string>& names);

// `arguments[0]` is the program's path. `input` goes to its standard input. Throws
// SimulatorUnavailable when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& input = "");

}  // namespace enceladus::simulator
