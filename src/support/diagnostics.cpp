#include "support/diagnostics.h"

#include <mutex>
#include <unordered_set>

#include "support/check.h"

namespace enceladus {
namespace {

constexpr DiagnosticRecord kRecords[] = {
#define DIAGNOSTIC(name, message, hint) {DiagnosticId::k##name, #name, message, hint},
#include "support/diagnostics.def"
#undef DIAGNOSTIC
};

std::string substitute(std::string_view text, std::span<const std::string> values) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    bool placeholder = text[i] == '{' && i + 2 < text.size() && text[i + 2] == '}' &&
                       text[i + 1] >= '0' && text[i + 1] <= '9';
    if (!placeholder) {
      result += text[i];
      continue;
    }
    size_t index = static_cast<size_t>(text[i + 1] - '0');
    ENC_CHECK(index < values.size(), "diagnostic value is missing: " + std::string(text));
    result += values[index];
    i += 2;
  }
  return result;
}

std::string place(const Location& location) {
  if (!location.known()) return "<unknown>";
  return *location.file + ":" + std::to_string(location.line) + ":" +
         std::to_string(location.column);
}

std::string caret_lines(const Location& location, std::string_view source_line) {
  std::string number = std::to_string(location.line);
  std::string gutter(number.size() < 4 ? 4 - number.size() : 0, ' ');
  std::string result = "\n " + gutter + number + " | " + std::string(source_line) + "\n";
  result += std::string(gutter.size() + number.size() + 1, ' ') + " | ";
  for (int32_t i = 1; i < location.column; ++i) {
    bool tab = static_cast<size_t>(i) <= source_line.size() && source_line[i - 1] == '\t';
    result += tab ? '\t' : ' ';
  }
  int32_t width = location.end_column > location.column ? location.end_column - location.column : 1;
  return result + std::string(static_cast<size_t>(width), '^');
}

}  // namespace

const std::string* intern_file(std::string_view name) {
  static std::mutex mutex;
  static std::unordered_set<std::string> names;
  std::lock_guard lock(mutex);
  return &*names.emplace(name).first;
}

std::span<const DiagnosticRecord> diagnostic_records() { return kRecords; }

Diagnostic make_diagnostic(DiagnosticId id, Location location,
                           std::span<const std::string> values) {
  const DiagnosticRecord& record = kRecords[static_cast<size_t>(id)];
  Diagnostic diagnostic;
  diagnostic.id = id;
  diagnostic.location = location;
  diagnostic.message = substitute(record.message, values);
  diagnostic.hint = substitute(record.hint, values);
  return diagnostic;
}

std::string render(const Diagnostic& diagnostic, std::string_view source_line) {
  std::string result = place(diagnostic.location) + ": error: " + diagnostic.message;
  if (!source_line.empty() && diagnostic.location.known())
    result += caret_lines(diagnostic.location, source_line);
  for (const Note& note : diagnostic.notes)
    result += "\n  note: " + place(note.location) + ": " + note.message;
  for (const Location& call : diagnostic.inlined_at)
    result += "\n  note: " + place(call) + ": called from here";
  if (!diagnostic.hint.empty()) result += "\n  hint: " + diagnostic.hint;
  return result;
}

CompilationFailure::CompilationFailure(std::vector<Diagnostic> diagnostics)
    : diagnostics_(std::move(diagnostics)) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics_) {
    if (!text.empty()) text += "\n";
    text += render(diagnostic);
  }
  text_ = std::make_shared<const std::string>(std::move(text));
}

void fail(DiagnosticId id, Location location, std::initializer_list<std::string> values) {
  throw CompilationFailure({make_diagnostic(id, location, values)});
}

}  // namespace enceladus
