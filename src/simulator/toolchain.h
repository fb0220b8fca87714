// The programs that compile MSL for the simulator, and their command lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace enceladus::simulator {

struct Toolchain {
  std::string clang;
  std::string linker;    // ld.bfd or ld.lld; empty: clang links with what it finds
  std::string identity;  // changes when the programs do

  // Throws SimulatorUnavailable, which says what to install.
  static Toolchain find();
};

// The program that gives lines for addresses, or an empty string.
std::string find_symbolizer();

using Command = std::vector<std::string>;
void append(Command& command, const Command& more);

// clang, set up to read MSL with the headers of a directory; wants what to do and a file.
Command frontend_command(const Toolchain& tools, const std::string& headers, int language_version);
// Further flags of the frontend for text that is going to run.
const Command& code_flags();
// And for what makes machine code of it: calls to the callbacks that the runtime has.
const Command& instrumentation_flags();
// IR text to an instrumented object file.
Command object_command(const Toolchain& tools, const std::string& ir, const std::string& object);
Command link_command(const Toolchain& tools, const Command& objects, const std::string& shared);
// All flags as one text, for the names of cached files.
std::string flags_identity();

}  // namespace enceladus::simulator
