// Located errors and warnings about the user's program. Every message is a record of
// diagnostics.def (an identifier, a sentence, a hint), so that each can be listed and is shown by
// a test. Not for our own mistakes (support/check.h).
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace enceladus {

// A place in a Python file. Lines count from 1, columns from 1 (as printed); 0 means unknown.
struct Location {
  const std::string* file = nullptr;  // interned: see intern_file
  int32_t line = 0;
  int32_t column = 0;
  int32_t end_column = 0;
  bool known() const { return file != nullptr && line > 0; }
};

// Returns a pointer that lives as long as the process; equal names give equal pointers.
const std::string* intern_file(std::string_view name);

enum class DiagnosticId : uint16_t {
#define DIAGNOSTIC(name, message, hint) k##name,
#include "support/diagnostics.def"
#undef DIAGNOSTIC
};

struct DiagnosticRecord {
  DiagnosticId id;
  std::string_view name;
  std::string_view message;  // with {0}, {1}, ... for the values
  std::string_view hint;     // may be empty; the same values
};
std::span<const DiagnosticRecord> diagnostic_records();

struct Note {
  Location location;
  std::string message;
};

struct Diagnostic {
  DiagnosticId id;
  Location location;
  std::string message;
  std::string hint;
  std::vector<Note> notes;
  std::vector<Location> inlined_at;  // call sites, innermost first
};

// Fills the record's sentence and hint with the values.
Diagnostic make_diagnostic(DiagnosticId id, Location location, std::span<const std::string> values);
inline Diagnostic make_diagnostic(DiagnosticId id, Location location,
                                  std::initializer_list<std::string> values = {}) {
  return make_diagnostic(id, location, std::span(values.begin(), values.size()));
}

// `file:line:column: error: sentence`, the source line with a caret (where `source_line` is not
// empty), notes and the hint.
std::string render(const Diagnostic& diagnostic, std::string_view source_line = {});

// Thrown by the compiler for the user's program; becomes `enceladus.CompilationError`.
class CompilationFailure : public std::exception {
 public:
  explicit CompilationFailure(std::vector<Diagnostic> diagnostics);
  const char* what() const noexcept override { return text_->c_str(); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::shared_ptr<const std::string> text_;
};

// Throws a CompilationFailure of one diagnostic.
[[noreturn]] void fail(DiagnosticId id, Location location,
                       std::initializer_list<std::string> values = {});

}  // namespace enceladus
