// Tile IR as text: what tools and tests run passes with.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "transforms/tile_passes.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

void check(const ir::Function& function, const std::string& after) {
  std::vector<std::string> mistakes = ir::verify(function);
  if (mistakes.empty()) return;
  std::string message = "after " + after + ":";
  for (const std::string& mistake : mistakes) message += "\n  " + mistake;
  throw nb::value_error(message.c_str());
}

std::string opt(const std::string& text, const std::vector<std::string>& passes) {
  std::unique_ptr<ir::Function> function;
  try {
    function = ir::parse(text);
  } catch (const ir::ParseError& error) {
    throw nb::value_error(error.what());
  }
  check(*function, "parsing");
  for (const std::string& name : passes) {
    const transforms::TilePass* pass = transforms::find_tile_pass(name);
    if (!pass && name != "optimize") throw nb::value_error(("no such pass: " + name).c_str());
    if (pass) {
      pass->run(*function);
    } else {
      transforms::optimize(*function);
    }
    check(*function, name);
  }
  return ir::print(*function);
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names = {"optimize"};
  for (const transforms::TilePass& pass : transforms::tile_passes()) names.emplace_back(pass.name);
  return names;
}

}  // namespace

void bind_ir(nb::module_& module) {
  module.def("opt", &opt, nb::arg("text"), nb::arg("passes"));
  module.def("pass_names", &pass_names);
}

}  // namespace enceladus
