#include "frontend/context.h"

#include <algorithm>

#include "support/check.h"

namespace enceladus::frontend {
namespace {

// Levenshtein's distance, by rows.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

}  // namespace

void Context::fail(Diagnostic diagnostic) {
  for (const Frame* f = frame; f && f->caller; f = f->caller)
    if (!f->function->is_library) diagnostic.inlined_at.push_back(f->called_from);
  throw CompilationFailure({std::move(diagnostic)});
}

void Context::fail_at(const Location& place, DiagnosticId id,
                      std::initializer_list<std::string> values) {
  fail(make_diagnostic(id, place, values));
}

void Context::fail(DiagnosticId id, std::initializer_list<std::string> values) {
  fail_at(builder.location(), id, values);
}

void Context::fail_in_python(const std::string& what) {
  ENC_CHECK(PyErr_Occurred(), what + " failed without an exception");
  nb::python_error error;
  if (!error.matches(PyExc_Exception)) throw error;
  std::string kind = nb::cast<std::string>(error.type().attr("__name__"));
  std::string message = nb::cast<std::string>(nb::str(error.value()));
  fail(DiagnosticId::kCompileTimeError, {what, kind, message});
}

void Context::collect(const CompilationFailure& failure) {
  constexpr size_t kEnough = 20;
  errors_.insert(errors_.end(), failure.diagnostics().begin(), failure.diagnostics().end());
  if (errors_.size() >= kEnough) throw_collected();
}

void Context::throw_collected() const {
  if (!errors_.empty()) throw CompilationFailure(errors_);
}

void Context::depend_on(nb::handle owner, std::string_view name, nb::handle value) {
  for (const Dependency& known : dependencies_)
    if (known.owner.is(owner) && known.name == name) return;
  dependencies_.push_back({nb::borrow(owner), std::string(name), nb::borrow(value)});
}

std::string closest(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  // Of a short name, two letters are most of it.
  size_t most = name.size() < 5 ? 1 : std::max<size_t>(2, name.size() / 3);
  size_t best_distance = most + 1;
  for (const std::string& candidate : candidates) {
    size_t d = distance(name, candidate);
    if (d >= best_distance) continue;
    best_distance = d;
    best = &candidate;
  }
  return best ? *best : std::string();
}

}  // namespace enceladus::frontend
