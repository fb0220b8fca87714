// Compiling: a `@jit` function, the kinds of its arguments and options, as Python hands them over.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/devices.h"
#include "bindings/interpreter_lock.h"
#include "frontend/frontend.h"
#include "frontend/functions.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "pipeline/compile.h"
#include "runtime/cuda/early_compiler.h"
#include "runtime/cuda/nvrtc.h"
#include "support/check.h"
#include "support/deep_stack.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

using frontend::ArgumentSpec;

DType dtype_named(const std::string& name) {
  std::optional<DType> dtype = dtype_from_python_name(name);
  if (!dtype) throw nb::value_error(("no such dtype: " + name).c_str());
  return *dtype;
}

// (name, "constexpr", value), (name, "scalar", dtype, divisible_by_16, equal_to_1) or
// (name, "pointer", dtype, aligned_16).
ArgumentSpec argument_spec(nb::handle tuple) {
  ArgumentSpec spec;
  spec.name = nb::cast<std::string>(tuple[0]);
  std::string kind = nb::cast<std::string>(tuple[1]);
  if (kind == "constexpr") {
    spec.kind = ArgumentSpec::Kind::kConstexpr;
    spec.value = tuple[2];
    return spec;
  }
  spec.dtype = dtype_named(nb::cast<std::string>(tuple[2]));
  if (kind == "pointer") {
    spec.kind = ArgumentSpec::Kind::kPointer;
    spec.aligned_16 = nb::cast<bool>(tuple[3]);
    return spec;
  }
  if (kind != "scalar") throw nb::value_error(("no such kind of argument: " + kind).c_str());
  spec.divisible_by_16 = nb::cast<bool>(tuple[3]);
  spec.equal_to_1 = nb::cast<bool>(tuple[4]);
  return spec;
}

template <typename T>
T option(const nb::dict& options, const char* name, T otherwise) {
  if (!options.contains(name) || options[name].is_none()) return otherwise;
  return nb::cast<T>(options[name]);
}

ir::MathMode math_mode_named(const std::string& name) {
  if (name == "fast") return ir::MathMode::kFast;
  return name == "precise" ? ir::MathMode::kPrecise : ir::MathMode::kRelaxed;
}

ir::DotBackend dot_backend_named(const std::string& name) {
  if (name == "simdgroup") return ir::DotBackend::kSimdgroup;
  if (name == "mpp") return ir::DotBackend::kMpp;
  if (name == "wgmma") return ir::DotBackend::kWgmma;
  return name == "mma" ? ir::DotBackend::kMma : ir::DotBackend::kAuto;
}

frontend::FrontendResult run_frontend(nb::handle function, const nb::list& specs,
                                      const nb::dict& options) {
  std::vector<ArgumentSpec> arguments;
  for (nb::handle spec : specs) arguments.push_back(argument_spec(spec));
  ir::FunctionOptions function_options;
  function_options.num_warps = option(options, "num_warps", 4);
  function_options.debug = option(options, "debug", false);
  function_options.math_mode =
      math_mode_named(option<std::string>(options, "math_mode", "relaxed"));
  function_options.arrays_disjoint = option(options, "arrays_disjoint", false);
  function_options.arrays_small = option(options, "arrays_small", false);
  using Grid = std::pair<int, int>;
  std::tie(function_options.dot_warps_m, function_options.dot_warps_n) =
      option<Grid>(options, "dot_warps", {0, 0});
  function_options.num_stages = option(options, "num_stages", 0);
  function_options.dot_backend =
      dot_backend_named(option<std::string>(options, "dot_backend", "auto"));
  return frontend::build_function(function, arguments, function_options);
}

nb::list dependency_list(const std::vector<frontend::Dependency>& dependencies) {
  nb::list result;
  for (const frontend::Dependency& dependency : dependencies)
    result.append(nb::make_tuple(dependency.owner, dependency.name, dependency.value));
  return result;
}

pipeline::CompileOptions compile_options(const nb::dict& options) {
  pipeline::CompileOptions result;
  std::string device = option<std::string>(options, "device", "cpu");
  result.target = device.substr(0, device.find(':'));
  result.verification = option(options, "verify", false) ? pipeline::Verification::kAfterEveryPass
                                                         : pipeline::Verification::kOnce;
  result.override_text = option<std::string>(options, "override", "");
  // Of Metal's devices: `apple9`, or `apple9+metal4` where matmul2d runs.
  const auto architecture = option<std::string>(options, "architecture", "");
  if (architecture.starts_with("apple")) {
    result.gpu_family = std::atoi(architecture.c_str() + 5);
    result.has_matmul2d = architecture.ends_with("+metal4");
  }
  return result;
}

nb::list time_list(double frontend_milliseconds, const std::vector<StageTime>& times) {
  nb::list result;
  result.append(nb::make_tuple("frontend", frontend_milliseconds));
  for (const StageTime& time : times) result.append(nb::make_tuple(time.stage, time.milliseconds));
  return result;
}

// Runs compiler work, which holds the interpreter lock, where the stack is deep enough for it.
template <typename Work>
auto on_deep_stack(const Work& work) {
  if (has_deep_stack()) return work();
  std::optional<decltype(work())> result;
  {
    const InterpreterUnlocked unlocked;
    with_deep_stack([&] {
      nb::gil_scoped_acquire locked;
      result = work();
    });
  }
  return std::move(*result);
}

nb::tuple compile_here(nb::handle function, const nb::list& specs, const nb::dict& options) {
  pipeline::CompileOptions compiler_options = compile_options(options);
  const bool is_cuda = compiler_options.target == "cuda";
  if (is_cuda) {
    find_cuda_libraries();
    cuda::load_compiler_early();
  }
  auto start = std::chrono::steady_clock::now();
  frontend::FrontendResult built = run_frontend(function, specs, options);
  std::chrono::duration<double, std::milli> frontend_time =
      std::chrono::steady_clock::now() - start;
  const auto architecture = option<std::string>(options, "architecture", "sm_90a");
  pipeline::CompileResult result;
  {
    const InterpreterUnlocked unlocked;
    result = pipeline::compile(std::move(built.function), compiler_options);
    if (is_cuda) {
      Stopwatch stopwatch;
      cuda::compile_artifact(result.artifact, architecture);
      stopwatch.lap("nvrtc");
      for (StageTime& time : stopwatch.take()) result.times.push_back(std::move(time));
    }
  }
  return nb::make_tuple(std::move(result.artifact), dependency_list(built.dependencies),
                        time_list(frontend_time.count(), result.times));
}

nb::tuple compile_kernel(nb::handle function, const nb::list& specs, const nb::dict& options) {
  const BeforeInterpreterEnds section;
  return on_deep_stack([&] { return compile_here(function, specs, options); });
}

nb::tuple frontend_ir(nb::handle function, const nb::list& specs, const nb::dict& options) {
  return on_deep_stack([&] {
    frontend::FrontendResult result = run_frontend(function, specs, options);
    for (const std::string& mistake : ir::verify(*result.function))
      ENC_CHECK(false, mistake + "\n" + ir::print(*result.function));
    return nb::make_tuple(ir::print(*result.function), dependency_list(result.dependencies));
  });
}

}  // namespace

void bind_compile(nb::module_& module) {
  module.def("compile", &compile_kernel, nb::arg("kernel"), nb::arg("specs"), nb::arg("options"),
             "Compiles a kernel: (artifact, dependencies, [(stage, milliseconds)]).");
  module.def("frontend_ir", &frontend_ir, nb::arg("function"), nb::arg("specs"), nb::arg("options"),
             "The tile IR of a kernel as text, verified, before any pass, and what it depends on.");
  module.def(
      "frontend_functions",
      [] {
        nb::list result;
        for (const frontend::FunctionDefinition& function : frontend::function_definitions())
          result.append(nb::make_tuple(function.name, function.signature, function.methods,
                                       function.descriptor_method));
        return result;
      },
      "Name, signature, tile methods and descriptor method of every `tl` function.");
  module.def(
      "diagnostic_names",
      [] {
        nb::list result;
        for (const DiagnosticRecord& record : diagnostic_records()) result.append(record.name);
        return result;
      },
      "The names of all records of diagnostics.def.");
}

}  // namespace enceladus
