#include "bindings/launch_grid.h"

#include "bindings/launch_errors.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

// The value as a Python int; null for what is none (an array of NumPy offers __index__ and
// refuses).
nb::object integer_of(PyObject* value) {
  if (PyBool_Check(value) || !PyIndex_Check(value)) return {};
  nb::object index = nb::steal(PyNumber_Index(value));
  if (!index.is_valid()) PyErr_Clear();
  return index;
}

int64_t parse_extent(PyObject* value, const std::string& place, const std::string& kernel) {
  nb::object index = integer_of(value);
  if (!index.is_valid()) {
    std::string advice =
        PyFloat_Check(value) ? "; use // or enceladus.cdiv, which give integers" : "";
    raise(PyExc_TypeError, place + " of `" + kernel + "` is " + short_repr(value) + " of type " +
                               type_name(value) + "; an extent is an integer" + advice);
  }
  int overflow = 0;
  int64_t extent = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (extent == -1 && PyErr_Occurred()) raise_set_error();
  if (overflow < 0 || extent < 0)
    if (overflow <= 0)
      raise(PyExc_ValueError, place + " of `" + kernel + "` is " + short_repr(index.ptr()) +
                                  "; an extent is 0 or more");
  return overflow > 0 ? INT64_MAX : extent;
}

}  // namespace

Grid parse_grid(PyObject* grid, const std::string& kernel, const char* origin) {
  Grid result;
  if (!PyTuple_Check(grid) && !PyList_Check(grid)) {
    if (!PyIndex_Check(grid) && !PyFloat_Check(grid))
      raise(PyExc_TypeError, std::string(origin) + " of `" + kernel + "` is " + short_repr(grid) +
                                 " of type " + type_name(grid) +
                                 "; it is an int, a tuple of 1 to 3 ints, or a function of the "
                                 "arguments (lambda meta: ...)");
    result.extents[0] = parse_extent(grid, origin, kernel);
    return result;
  }
  Py_ssize_t rank = PySequence_Fast_GET_SIZE(grid);
  if (rank < 1 || rank > 3)
    raise(PyExc_ValueError, std::string(origin) + " of `" + kernel + "` is " + short_repr(grid) +
                                " with " + std::to_string(rank) + " extents; it has 1 to 3");
  for (Py_ssize_t axis = 0; axis < rank; ++axis) {
    PyObject* value = PySequence_Fast_GET_ITEM(grid, axis);
    int64_t& extent = result.extents[static_cast<size_t>(axis)];
    // Small exact ints, which is what nearly every launch has, without building a place name.
    if (PyLong_CheckExact(value)) {
      int overflow = 0;
      extent = PyLong_AsLongLongAndOverflow(value, &overflow);
      if (overflow == 0 && extent >= 0) continue;
    }
    extent = parse_extent(value, std::string(origin) + "[" + std::to_string(axis) + "]", kernel);
  }
  return result;
}

void check_grid_limits(const Grid& grid, const std::array<int64_t, 3>& limits,
                       const std::string& kernel, const std::string& device) {
  for (size_t axis = 0; axis < 3; ++axis) {
    if (grid.extents[axis] <= limits[axis]) continue;
    std::string extent =
        grid.extents[axis] == INT64_MAX ? "2**63 or more" : std::to_string(grid.extents[axis]);
    raise(PyExc_ValueError, "grid[" + std::to_string(axis) + "] of `" + kernel + "` is " + extent +
                                ", more than the " + std::to_string(limits[axis]) + " that " +
                                device + " takes");
  }
  int64_t count = 1;
  for (int64_t extent : grid.extents) {
    if (__builtin_mul_overflow(count, extent, &count))
      raise(PyExc_ValueError, "grid of `" + kernel + "` has 2**63 programs or more");
  }
}

}  // namespace enceladus
