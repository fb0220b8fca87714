#include "simulator/compile_msl.h"

#include <cctype>
#include <cstdio>
#include <sstream>
#include <vector>

#include "simulator/errors.h"
#include "simulator/ir_rewrite.h"
#include "simulator/metal_headers.h"
#include "simulator/object_cache.h"
#include "simulator/process.h"
#include "simulator/runtime_functions.h"
#include "simulator/template_kernels.h"
#include "simulator/toolchain.h"

namespace enceladus::simulator {
namespace {

namespace fs = std::filesystem;

// Raise it when what is made of the same text changes for a reason that no flag shows.
constexpr int kFormat = 3;

fs::path write_headers(const fs::path& root) {
  Digest digest;
  for (const MetalHeader& header : metal_headers()) digest.add(header.name).add(header.text);
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

void run_or_fail(const Command& command) {
  ProcessResult result = run_process(command);
  if (result.exit_code == 0) return;
  throw SimulatorUnavailable("the simulated kernel could not be built, " + command[0] +
                             " failed:\n" + result.errors);
}

// The lines of the text that include one of our headers, each once and in order.
std::string metal_includes(const std::string& msl) {
  std::string includes;
  std::istringstream lines(msl);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#include <")) continue;
    for (const MetalHeader& header : metal_headers()) {
      std::string wanted = "#include <" + std::string(header.name) + ">\n";
      bool same = line.starts_with(wanted.substr(0, wanted.size() - 1));
      if (same && includes.find(wanted) == std::string::npos) includes += wanted;
    }
  }
  return includes;
}

// Whether the text may declare threadgroup variables: it has that word alone, or makes words.
bool may_have_threadgroup_variables(std::string_view text) {
  constexpr std::string_view kWord = "threadgroup";
  auto in_word = [&](size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  if (text.find("##") != std::string_view::npos) return true;
  for (size_t at = text.find(kWord); at != std::string_view::npos; at = text.find(kWord, at + 1))
    if (!in_word(at - 1) && !in_word(at + kWord.size())) return true;
  return false;
}

class Compiler {
 public:
  explicit Compiler(const CompileOptions& options)
      : options_(options),
        root_(cache_root(options.cache_directory)),
        tools_(Toolchain::find()),
        headers_(write_headers(root_)) {}

  // Without the precompiled headers, so that a missing #include is noticed.
  void check(const std::string& msl) const {
    StagedDirectory work(root_ / "check");
    write_file(work.path() / kMslFileName, msl);
    Command command = frontend();
    append(command, {"-fsyntax-only", (work.path() / kMslFileName).string()});
    ProcessResult checked = run_process(command);
    if (checked.exit_code != 0) refuse(checked.errors, msl);
  }

  // The path of the shared object for a text with its entry function.
  fs::path object(const std::string& msl, const std::string& text) const {
    Digest digest = base_digest();
    digest.add(text);
    for (std::string_view function : runtime_function_names()) digest.add(function);
    fs::path directory = root_ / digest.text();
    if (fs::exists(directory / "kernel.so")) return directory / "kernel.so";
    StagedDirectory staged(directory);
    write_file(staged.path() / kMslFileName, text);
    fs::path object = staged.path() / "kernel.o";
    Command objects = {object.string()};
    if (may_have_threadgroup_variables(text)) {
      build_rewritten(staged.path(), msl);
    } else {
      build_at_once(staged.path(), msl);
      objects.push_back(stubs().string());
    }
    run_or_fail(link_command(tools_, objects, (staged.path() / "kernel.so").string()));
    fs::remove(object);
    staged.publish();
    return directory / "kernel.so";
  }

 private:
  Command frontend() const {
    return frontend_command(tools_, headers_.string(), options_.language_version);
  }

  Digest base_digest() const {
    Digest digest;
    digest.add(headers_.string()).add(tools_.identity).add(flags_identity());
    digest.add(std::to_string(kFormat) + "," + std::to_string(options_.language_version));
    return digest;
  }

  // Parsing our headers takes twice as long as all the rest of the frontend's work.
  fs::path precompiled(const std::string& includes) const {
    fs::path directory = root_ / ("precompiled-" + base_digest().add(includes).text());
    fs::path result = directory / "headers.pch";
    if (fs::exists(result)) return result;
    StagedDirectory staged(directory);
    Command command = frontend();
    append(command, code_flags());
    append(command, {"-fsanitize=thread", "-Xclang", "-emit-pch", "-c", "-o",
                     (staged.path() / "headers.pch").string(), "-"});
    ProcessResult made = run_process(command, includes);
    if (made.exit_code != 0) {
      throw SimulatorUnavailable("clang does not take the simulator's headers:\n" + made.errors);
    }
    staged.publish();
    return result;
  }

  // From the text to `output`, by one run of clang with further flags.
  void translate(const fs::path& directory, const std::string& msl, const Command& flags,
                 const fs::path& output) const {
    Command command = frontend();
    append(command, code_flags());
    append(command, flags);
    if (std::string includes = metal_includes(msl); !includes.empty()) {
      append(command, {"-Xclang", "-include-pch", "-Xclang", precompiled(includes).string()});
    }
    append(command, {(directory / kMslFileName).string(), "-o", output.string()});
    ProcessResult result = run_process(command);
    if (result.exit_code != 0) refuse(result.errors, msl);
  }

  void build_at_once(const fs::path& directory, const std::string& msl) const {
    Command flags = instrumentation_flags();
    flags.push_back("-c");
    translate(directory, msl, flags, directory / "kernel.o");
  }

  // Threadgroup variables are rewritten before anything optimizes them.
  void build_rewritten(const fs::path& directory, const std::string& msl) const {
    fs::path ir = directory / "kernel.ll";
    translate(directory, msl,
              {"-fsanitize=thread", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm"}, ir);
    write_file(ir, rewrite_ir(read_file(ir), runtime_function_names()));
    run_or_fail(object_command(tools_, ir.string(), (directory / "kernel.o").string()));
  }

  // What the rewriting appends to every kernel, as an object of its own.
  fs::path stubs() const {
    Digest digest = base_digest();
    for (std::string_view function : runtime_function_names()) digest.add(function);
    fs::path directory = root_ / ("stubs-" + digest.text());
    if (fs::exists(directory)) return directory / "stubs.o";
    StagedDirectory staged(directory);
    std::string ir = (staged.path() / "stubs.ll").string();
    write_file(ir, rewrite_ir("", runtime_function_names()));
    run_or_fail(object_command(tools_, ir, (staged.path() / "stubs.o").string()));
    staged.publish();
    return directory / "stubs.o";
  }

  const CompileOptions& options_;
  fs::path root_;
  Toolchain tools_;
  fs::path headers_;
};

}  // namespace

void check_msl(const std::string& msl, const CompileOptions& options) {
  Compiler compiler(options);
  compiler.check(with_template_kernel(msl, ""));
  for (const std::string& name : template_kernel_names(msl)) {
    compiler.check(with_template_kernel(msl, name));
  }
}

CompiledMsl compile_msl(const std::string& msl, const std::string& entry,
                        const CompileOptions& options) {
  CompiledMsl compiled;
  std::string plain = with_template_kernel(msl, entry);
  compiled.signature = read_signature(plain, entry);
  std::string text = plain + entry_function(compiled.signature);
  compiled.object_path = Compiler(options).object(plain, text).string();
  return compiled;
}

}  // namespace enceladus::simulator
