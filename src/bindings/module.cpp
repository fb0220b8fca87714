// The extension module `enceladus._core`: a list of what each binding file adds. It converts,
// calls and translates errors; it decides nothing.
#include <nanobind/nanobind.h>

#include "bindings/bindings.h"
#include "bindings/interpreter_lock.h"

NB_MODULE(_core, module) {
  // With PyTorch loaded, a tensor in a global of the program outlives the interpreter's clean-up;
  // that is no leak worth a report on the user's terminal.
  nanobind::set_leak_warnings(false);
  module.doc() = "The native part of Enceladus.";
  enceladus::listen_for_the_end();
  enceladus::bind_errors(module);
  enceladus::bind_artifact(module);
  enceladus::bind_ceilings(module);
  enceladus::bind_compile(module);
  enceladus::bind_ir(module);
  enceladus::bind_launch(module);
  enceladus::bind_runtime(module);
  enceladus::bind_tensor(module);
  enceladus::bind_text_kernel(module);
}
