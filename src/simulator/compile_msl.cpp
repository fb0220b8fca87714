#include "simulator/compile_msl.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "simulator/errors.h"
#include "simulator/ir_rewrite.h"
#include "simulator/metal_headers.h"
#include "simulator/process.h"
#include "simulator/runtime_functions.h"
#include "support/hash.h"

namespace enceladus::simulator {
namespace {

namespace fs = std::filesystem;

// Raise it when what is made of the same text changes for a reason that no flag shows.
constexpr int kFormat = 1;

const std::vector<std::string> kClangNames = {"clang-19", "clang-20", "clang-21",
                                              "clang-18", "clang-17", "clang"};

// Accesses wider than 16 bytes would escape the instrumentation, contraction would change results,
// and loops without an end must stay for the watchdog to find.
const std::vector<std::string> kCodeFlags = {"-O1",
                                             "-gline-tables-only",
                                             "-march=x86-64-v2",
                                             "-mf16c",
                                             "-fPIC",
                                             "-fno-vectorize",
                                             "-fno-slp-vectorize",
                                             "-ffp-contract=off",
                                             "-fno-finite-loops",
                                             "-fno-unroll-loops",
                                             "-fno-discard-value-names"};

const std::vector<std::string> kInstrumentationFlags = {"-fsanitize=thread",
                                                        "-fsanitize-coverage=bb,no-prune,trace-pc",
                                                        "-mllvm",
                                                        "-tsan-instrument-func-entry-exit=0",
                                                        "-mllvm",
                                                        "-tsan-instrument-read-before-write=1"};

std::string clang_program() {
  std::string program = find_program(kClangNames);
  if (program.empty()) {
    throw SimulatorUnavailable(
        "the Metal simulator needs clang 17 or newer to compile kernels, and found none of "
        "clang-19, clang-20, clang-18, clang-17, clang on the PATH: install clang-19 and lld-19");
  }
  return program;
}

fs::path cache_root(const CompileOptions& options) {
  if (!options.cache_directory.empty()) return fs::path(options.cache_directory) / "simulator";
  if (const char* set = std::getenv("ENCELADUS_CACHE_DIR"); set != nullptr && *set != '\0') {
    return fs::path(set) / "simulator";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home == nullptr ? "/tmp" : home) / ".cache/enceladus/simulator";
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) throw SimulatorUnavailable("cannot write " + path.string());
}

std::string hexadecimal(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// Two independent 64-bit hashes: texts that share both by accident do not happen.
class Digest {
 public:
  void add(std::string_view text) {
    first_ = hash_bytes(text.data(), text.size(), first_);
    second_ = hash_bytes(text.data(), text.size(), second_ ^ 0xa5a5a5a5a5a5a5a5);
  }
  std::string text() const { return hexadecimal(first_) + hexadecimal(second_); }

 private:
  uint64_t first_ = kHashSeed;
  uint64_t second_ = ~kHashSeed;
};

// A directory that is filled beside its final place and renamed, so that nobody sees half of it.
class StagedDirectory {
 public:
  explicit StagedDirectory(fs::path target) : target_(std::move(target)) {
    static std::atomic<unsigned> counter{0};
    staged_ = target_;
    staged_ += "." + std::to_string(getpid()) + "." + std::to_string(counter++);
    std::error_code error;
    fs::create_directories(staged_, error);
    if (error) {
      throw SimulatorUnavailable("cannot create " + staged_.string() + ": " + error.message());
    }
  }
  ~StagedDirectory() {
    std::error_code ignored;
    fs::remove_all(staged_, ignored);
  }
  const fs::path& path() const { return staged_; }
  // Another process may have been quicker: what it made is the same.
  void publish() {
    std::error_code error;
    fs::rename(staged_, target_, error);
    if (error && !fs::exists(target_)) {
      throw SimulatorUnavailable("cannot create " + target_.string() + ": " + error.message());
    }
  }

 private:
  fs::path target_;
  fs::path staged_;
};

fs::path write_headers(const fs::path& root) {
  Digest digest;
  for (const MetalHeader& header : metal_headers()) {
    digest.add(header.name);
    digest.add(header.text);
  }
  fs::path directory = root / ("headers-" + digest.text());
  if (fs::exists(directory)) return directory;
  StagedDirectory staged(directory);
  for (const MetalHeader& header : metal_headers()) {
    fs::path file = staged.path() / header.name;
    fs::create_directories(file.parent_path());
    write_file(file, header.text);
  }
  staged.publish();
  return directory;
}

std::vector<std::string> frontend_command(const std::string& clang, const fs::path& headers,
                                          const CompileOptions& options) {
  std::vector<std::string> command = {
      clang,
      "-x",
      "cl",
      "-cl-std=clc++2021",
      "-cl-no-stdinc",
      "--target=x86_64-linux-gnu",
      "-w",
      "-fno-caret-diagnostics",
      "-fno-color-diagnostics",
      "-isystem",
      headers.string(),
      "-DENCELADUS_METAL_VERSION=" + std::to_string(options.language_version)};
  return command;
}

// Sets the place of a message from "...kernel.metal:12:3: ...", where the line has one.
void read_place(const std::string& line, MslMessage& message) {
  size_t name = line.find(kMslFileName);
  if (name == std::string::npos) return;
  unsigned row = 0, column = 0;
  std::sscanf(line.c_str() + name + kMslFileName.size(), ":%u:%u", &row, &column);
  message.line = row;
  message.column = column;
}

// An error inside our headers gets the place of the note that leads back to the text.
std::vector<MslMessage> parse_messages(const std::string& errors) {
  std::vector<MslMessage> messages;
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);) {
    if (size_t error = line.find("error: "); error != std::string::npos) {
      MslMessage message;
      message.text = line.substr(error + 7);
      read_place(line, message);
      messages.push_back(message);
    } else if (line.find("note: ") != std::string::npos && !messages.empty() &&
               messages.back().line == 0) {
      read_place(line, messages.back());
    }
  }
  return messages;
}

[[noreturn]] void refuse(const std::string& errors, const std::string& msl) {
  std::vector<MslMessage> messages = parse_messages(errors);
  if (messages.empty()) throw SimulatorUnavailable("clang failed:\n" + errors);
  std::vector<std::string> lines;
  std::istringstream text(msl);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::string summary = "the MSL text does not compile:";
  for (const MslMessage& message : messages) {
    summary += "\n  line " + std::to_string(message.line) + ": " + message.text;
    if (message.line >= 1 && message.line <= lines.size()) {
      summary += "\n    | " + lines[message.line - 1];
    }
  }
  throw MslError(summary, std::move(messages));
}

void append(std::vector<std::string>& command, const std::vector<std::string>& flags) {
  command.insert(command.end(), flags.begin(), flags.end());
}

void make_object(const std::string& clang, const fs::path& headers, const fs::path& directory,
                 const std::string& msl, const CompileOptions& options) {
  std::vector<std::string> emit = frontend_command(clang, headers, options);
  append(emit, kCodeFlags);
  append(emit, {"-fsanitize=thread", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm",
                (directory / kMslFileName).string(), "-o", (directory / "kernel.ll").string()});
  ProcessResult emitted = run_process(emit);
  if (emitted.exit_code != 0) refuse(emitted.errors, msl);

  fs::path ir = directory / "kernel.ll", object = directory / "kernel.so";
  write_file(ir, rewrite_ir(read_file(ir), runtime_function_names()));
  std::vector<std::string> build = {clang, "--target=x86_64-linux-gnu", "-w", "-shared",
                                    "-nostdlib"};
  append(build, kCodeFlags);
  append(build, kInstrumentationFlags);
  if (!find_program({"ld.lld", "ld.lld-19"}).empty()) build.push_back("-fuse-ld=lld");
  append(build, {"-Wl,-z,defs", ir.string(), "-o", object.string()});
  ProcessResult built = run_process(build);
  if (built.exit_code != 0) {
    throw SimulatorUnavailable("clang could not build the simulated kernel:\n" + built.errors);
  }
}

}  // namespace

void check_msl(const std::string& msl, const CompileOptions& options) {
  std::string clang = clang_program();
  fs::path headers = write_headers(cache_root(options));
  StagedDirectory work(cache_root(options) / "check");
  write_file(work.path() / kMslFileName, msl);
  std::vector<std::string> command = frontend_command(clang, headers, options);
  append(command, {"-fsyntax-only", (work.path() / kMslFileName).string()});
  ProcessResult checked = run_process(command);
  if (checked.exit_code != 0) refuse(checked.errors, msl);
}

CompiledMsl compile_msl(const std::string& msl, const std::string& entry,
                        const CompileOptions& options) {
  CompiledMsl compiled;
  compiled.signature = read_signature(msl, entry);
  std::string clang = clang_program();
  fs::path root = cache_root(options);
  fs::path headers = write_headers(root);
  std::string text = msl + entry_function(compiled.signature);

  Digest digest;
  digest.add(text);
  digest.add(headers.string());
  digest.add(clang);
  digest.add(std::to_string(kFormat) + "," + std::to_string(options.language_version));
  for (const std::string& flag : kCodeFlags) digest.add(flag);
  for (const std::string& flag : kInstrumentationFlags) digest.add(flag);
  for (std::string_view function : runtime_function_names()) digest.add(function);
  fs::path directory = root / digest.text();
  compiled.object_path = (directory / "kernel.so").string();
  if (fs::exists(compiled.object_path)) return compiled;

  StagedDirectory staged(directory);
  write_file(staged.path() / kMslFileName, text);
  make_object(clang, headers, staged.path(), msl, options);
  staged.publish();
  return compiled;
}

}  // namespace enceladus::simulator
