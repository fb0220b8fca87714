// The grid of a launch: the forms a user may write, checked.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <string>

namespace enceladus {

// Extents beyond `rank` are 1.
struct Grid {
  std::array<int64_t, 3> extents = {1, 1, 1};
  bool empty() const { return extents[0] == 0 || extents[1] == 0 || extents[2] == 0; }
};

// An int, or a tuple or list of one to three of them; NumPy integers count. Raises TypeError or
// ValueError that names the value. `origin` is "grid" or "the grid function's result".
Grid parse_grid(PyObject* grid, const std::string& kernel, const char* origin);

// Raises ValueError where an extent is more than the device takes.
void check_grid_limits(const Grid& grid, const std::array<int64_t, 3>& limits,
                       const std::string& kernel, const std::string& device);

}  // namespace enceladus
