// Launch options: the keywords of a launch that are not parameters of the kernel.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/launch_key.h"

namespace enceladus {

enum class DotBackend : uint8_t { kAuto, kSimdgroup, kMpp, kWgmma, kMma };

struct LaunchOptions {
  int32_t num_warps = 4;
  int32_t dot_warps_m = 0;  // 0: not given
  int32_t dot_warps_n = 0;
  int32_t num_stages = 0;  // 0: not given
  DotBackend dot_backend = DotBackend::kAuto;
  PyObject* stream = nullptr;  // borrowed; null: the default stream

  void write(KeyWriter& key) const {
    key.byte(static_cast<uint8_t>(num_warps));
    key.byte(static_cast<uint8_t>(dot_warps_m));
    key.byte(static_cast<uint8_t>(dot_warps_n));
    key.byte(static_cast<uint8_t>(num_stages));
    key.byte(static_cast<uint8_t>(dot_backend));
  }
};

std::vector<std::string> option_names();
// The option of that name; -1 where there is none.
int find_option(PyObject* name);
// Takes the value over. Raises where it is no value of the option.
void set_option(LaunchOptions& options, int option, PyObject* value, const std::string& kernel);
// What holds between options: the warp grid of dot is made of all the warps.
void check_options(const LaunchOptions& options, const std::string& kernel);
// As the compiler's binding takes them: {"num_warps": 4, "dot_warps": None, ...}.
nanobind::dict options_dict(const LaunchOptions& options);

}  // namespace enceladus
