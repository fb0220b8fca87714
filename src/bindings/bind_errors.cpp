// Turns the exceptions of the core into those of `enceladus.errors`. Source lines come from
// Python's linecache, which also knows notebook cells and strings run by exec.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <new>

#include "bindings/bindings.h"
#include "bindings/launch_errors.h"
#include "runtime/common/failure.h"
#include "support/check.h"
#include "support/diagnostics.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

std::string source_line(const Location& location) {
  if (!location.known()) return {};
  nb::object line =
      nb::module_::import_("linecache").attr("getline")(*location.file, location.line);
  return nb::cast<std::string>(line.attr("rstrip")("\r\n"));
}

// Python's syntax tree counts columns in bytes of UTF-8; people count characters.
int32_t character_column(const std::string& line, int32_t byte_column) {
  int32_t column = 1;
  for (int32_t i = 0; i + 1 < byte_column; ++i) {
    bool is_behind_line = static_cast<size_t>(i) >= line.size();
    bool continues = !is_behind_line && (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80;
    column += !continues;
  }
  return column;
}

Location in_characters(Location location, const std::string& line) {
  if (location.end_column > 0) location.end_column = character_column(line, location.end_column);
  if (location.column > 0) location.column = character_column(line, location.column);
  return location;
}

// The same with every column counted in characters.
Diagnostic in_characters(Diagnostic diagnostic) {
  auto convert = [](Location& location) {
    location = in_characters(location, source_line(location));
  };
  convert(diagnostic.location);
  for (Note& note : diagnostic.notes) convert(note.location);
  for (Location& call : diagnostic.inlined_at) convert(call);
  return diagnostic;
}

std::string_view record_name(DiagnosticId id) {
  return diagnostic_records()[static_cast<size_t>(id)].name;
}

void set_compilation_error(const CompilationFailure& failure) {
  nb::list records;
  for (const Diagnostic& found : failure.diagnostics()) {
    Diagnostic diagnostic = in_characters(found);
    const Location& place = diagnostic.location;
    std::string_view name = record_name(diagnostic.id);
    records.append(nb::make_tuple(nb::str(name.data(), name.size()), diagnostic.message,
                                  diagnostic.hint, place.file ? *place.file : std::string(),
                                  place.line, place.column,
                                  render(diagnostic, source_line(place))));
  }
  nb::object type = nb::module_::import_("enceladus.errors").attr("CompilationError");
  PyErr_SetObject(type.ptr(), type.attr("from_records")(records).ptr());
}

void set_internal_error(const InternalError& error) {
  nb::object type = nb::module_::import_("enceladus.errors").attr("InternalError");
  PyErr_SetString(type.ptr(), error.what());
}

void set_launch_failure(const LaunchFailure& failure) {
  const char* name = "EnceladusError";
  if (failure.kind() == FailureKind::kAssertion) name = "DeviceAssertionError";
  if (failure.kind() == FailureKind::kOutOfBounds) name = "OutOfBoundsError";
  nb::object type = nb::module_::import_("enceladus.errors").attr(name);
  PyErr_SetString(type.ptr(), failure.what());
}

void set_device_failure(const DeviceFailure& failure) {
  const char* name = failure.target() == "cuda" ? "CudaError" : "MetalError";
  nb::object type = nb::module_::import_("enceladus.errors").attr(name);
  PyErr_SetString(type.ptr(), failure.what());
}

// Our own exceptions alone; others pass through.
void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const CompilationFailure& failure) {
    set_compilation_error(failure);
  } catch (const LaunchFailure& failure) {
    set_launch_failure(failure);
  } catch (const DeviceFailure& failure) {
    set_device_failure(failure);
  } catch (const InternalError& error) {
    set_internal_error(error);
  }
}

}  // namespace

void set_error_of_current_exception() {
  try {
    translate(std::current_exception(), nullptr);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc& error) {
    PyErr_SetString(PyExc_MemoryError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void bind_errors(nb::module_&) { nb::register_exception_translator(&translate); }

}  // namespace enceladus
