// One function per binding file; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

namespace enceladus {

void bind_errors(nanobind::module_& module);
void bind_artifact(nanobind::module_& module);
void bind_ceilings(nanobind::module_& module);
void bind_compile(nanobind::module_& module);
void bind_ir(nanobind::module_& module);
void bind_launch(nanobind::module_& module);
void bind_runtime(nanobind::module_& module);
void bind_tensor(nanobind::module_& module);
void bind_text_kernel(nanobind::module_& module);

}  // namespace enceladus
