// MTLLibrary and MTLFunction: MSL text that is checked and compiled when the library is made, so
// that errors appear where Apple's compiler would give them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulator/fake_framework/object.h"
#include "simulator/simulated_kernel.h"

namespace enceladus::fake_metal {

class CompileOptions : public Body {
 public:
  static const Class& type();

  uint64_t language_version = 4 << 16;  // major << 16 | minor
  uint64_t math_mode = 2;               // fast, as Apple's default is
  uint64_t math_functions = 0;
  uint64_t optimization_level = 0;
  bool fast_math = true;
  bool logging = false;
};

// Values of `constant int n [[function_constant(0)]]` for a function.
class FunctionConstants : public Body {
 public:
  static const Class& type();
  const std::map<uint32_t, std::string>& values() const { return values_; }

  Result set(const Message& message);
  Result reset(const Message& message);

 private:
  std::map<uint32_t, std::string> values_;  // as MSL expressions, by index
};

class Library : public Body {
 public:
  static const Class& type();
  // The library, or null after an error was written to argument 2 of the message.
  static Object* compile(const std::string& source, const CompileOptions& options,
                         const Message& message);
  Library(std::string source, const CompileOptions& options, std::vector<std::string> kernels);

  const std::string& source() const { return source_; }
  int language_version() const { return language_version_; }
  bool logging() const { return logging_; }

  Result function(const Message& message);
  Result function_with_constants(const Message& message);
  Result function_names(const Message& message);

  std::string label;

 private:
  bool has(const std::string& name) const;

  std::string source_;
  int language_version_;  // as __METAL_VERSION__ has it
  bool logging_;
  std::vector<std::string> kernels_;
};

class Function : public Body {
 public:
  static const Class& type();
  Function(Ref<Library> library, std::string name, std::map<uint32_t, std::string> constants)
      : library_(std::move(library)), name_(std::move(name)), constants_(std::move(constants)) {}

  const Library& library() const { return *library_; }
  const std::string& name() const { return name_; }
  // Throws MslError or SimulatorUnavailable.
  simulator::SimulatedKernel load() const;
  Result name_string(const Message& message);

 private:
  Ref<Library> library_;
  std::string name_;
  std::map<uint32_t, std::string> constants_;
};

// The exception that is being handled as an NSError, in the shape of Apple's compiler:
// "program_source:3:7: error: ...". Throws on what is no error of compiling.
void write_compile_error(const Message& message, size_t index);

}  // namespace enceladus::fake_metal
