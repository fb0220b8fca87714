#include "simulator/toolchain.h"

#include <filesystem>

#include "simulator/errors.h"
#include "simulator/process.h"

namespace enceladus::simulator {
namespace {

const Command kVersions = {"-19", "-20", "-21", "-18", "-17", ""};

Command versions_of(const std::string& name) {
  Command names;
  for (const std::string& version : kVersions) names.push_back(name + version);
  return names;
}

const std::string kTarget = "--target=x86_64-linux-gnu";

// A program's path, size and date: enough to notice an upgrade, without running it.
std::string identity_of(const std::string& program) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path file = fs::canonical(program, error);
  auto size = fs::file_size(file, error);
  auto date = fs::last_write_time(file, error).time_since_epoch().count();
  return file.string() + "," + std::to_string(size) + "," + std::to_string(date) + ";";
}

}  // namespace

Toolchain Toolchain::find() {
  Toolchain tools;
  tools.clang = find_program(versions_of("clang"));
  if (tools.clang.empty()) {
    throw SimulatorUnavailable(
        "the Metal simulator needs clang 17 or newer to compile kernels, and found none of "
        "clang-19, clang-20, clang-18, clang-17, clang on the PATH: install clang-19 and lld-19");
  }
  // ld.bfd starts six times as fast, which is most of what linking so little takes.
  tools.linker = find_program({"ld.bfd"});
  if (tools.linker.empty()) tools.linker = find_program(versions_of("ld.lld"));
  tools.identity = identity_of(tools.clang);
  if (!tools.linker.empty()) tools.identity += identity_of(tools.linker);
  return tools;
}

std::string find_symbolizer() { return find_program(versions_of("llvm-symbolizer")); }

void append(Command& command, const Command& more) {
  command.insert(command.end(), more.begin(), more.end());
}

Command frontend_command(const Toolchain& tools, const std::string& headers, int language_version) {
  return {tools.clang,
          "-x",
          "cl",
          "-cl-std=clc++2021",
          "-cl-no-stdinc",
          kTarget,
          "-w",
          "-fno-caret-diagnostics",
          "-fno-color-diagnostics",
          "-isystem",
          headers,
          "-DENCELADUS_METAL_VERSION=" + std::to_string(language_version)};
}

// Accesses wider than 16 bytes would escape the instrumentation, contraction would change results,
// and loops without an end must stay for the watchdog to find.
const Command& code_flags() {
  static const Command kFlags = {"-O1", "-gline-tables-only", "-march=x86-64-v2", "-mf16c", "-fPIC",
                                 "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops",
                                 "-ffp-contract=off", "-fno-finite-loops",
                                 // A large frame may not jump over the guard page of its stack.
                                 "-fstack-clash-protection"};
  return kFlags;
}

const Command& instrumentation_flags() {
  static const Command kFlags = {"-fsanitize=thread", "-fsanitize-coverage=bb,no-prune,trace-pc",
                                 "-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm",
                                 "-tsan-instrument-read-before-write=1",
                                 // Else a vector load whose elements are used one by one becomes
                                 // several loads in other lines, before it is instrumented.
                                 "-mllvm", "-disable-vector-combine"};
  return kFlags;
}

Command object_command(const Toolchain& tools, const std::string& ir, const std::string& object) {
  Command command = {tools.clang, kTarget, "-w", "-c", ir, "-o", object};
  append(command, code_flags());
  append(command, instrumentation_flags());
  return command;
}

Command link_command(const Toolchain& tools, const Command& objects, const std::string& shared) {
  Command command = {tools.clang, kTarget, "-shared", "-nostdlib", "-Wl,-z,defs"};
  if (!tools.linker.empty()) command = {tools.linker, "-shared", "-z", "defs"};
  append(command, objects);
  append(command, {"-o", shared});
  return command;
}

std::string flags_identity() {
  std::string text;
  for (const std::string& flag : code_flags()) text += flag + " ";
  for (const std::string& flag : instrumentation_flags()) text += flag + " ";
  return text;
}

}  // namespace enceladus::simulator
