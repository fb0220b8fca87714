#include "bindings/launch_options.h"

#include <array>

#include "bindings/launch_errors.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

constexpr const char* kBackendNames[] = {"auto", "simdgroup", "mpp", "wgmma", "mma"};
constexpr int32_t kMostStages = 32;

[[noreturn]] void refuse(PyObject* error, const char* option, PyObject* value,
                         const std::string& kernel, const std::string& rule) {
  raise(error, std::string(option) + "=" + short_repr(value) + " for `" + kernel + "`: " + rule);
}

// An int or NumPy integer; -1 where it is too large for any option.
int32_t parse_integer(PyObject* value, const char* option, const std::string& kernel,
                      const std::string& rule) {
  if (PyBool_Check(value) || !PyIndex_Check(value))
    refuse(PyExc_TypeError, option, value, kernel, rule);
  nb::object index = nb::steal(PyNumber_Index(value));
  if (!index.is_valid()) raise_set_error();
  int overflow = 0;
  long long result = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  return overflow != 0 || result < 0 || result > INT32_MAX ? -1 : static_cast<int32_t>(result);
}

bool is_power_of_two(int32_t value) { return value > 0 && (value & (value - 1)) == 0; }

void set_num_warps(LaunchOptions& options, PyObject* value, const std::string& kernel) {
  const std::string rule = "it is a power of two from 1 to 32";
  int32_t warps = parse_integer(value, "num_warps", kernel, rule);
  if (!is_power_of_two(warps) || warps > 32)
    refuse(PyExc_ValueError, "num_warps", value, kernel, rule);
  options.num_warps = warps;
}

void set_dot_warps(LaunchOptions& options, PyObject* value, const std::string& kernel) {
  const std::string rule = "it is None or a pair of powers of two whose product is num_warps";
  options.dot_warps_m = options.dot_warps_n = 0;
  if (value == Py_None) return;
  bool is_pair = (PyTuple_Check(value) || PyList_Check(value)) && PySequence_Size(value) == 2;
  if (!is_pair) refuse(PyExc_TypeError, "dot_warps", value, kernel, rule);
  int32_t rows = parse_integer(PySequence_Fast_GET_ITEM(value, 0), "dot_warps", kernel, rule);
  int32_t columns = parse_integer(PySequence_Fast_GET_ITEM(value, 1), "dot_warps", kernel, rule);
  if (!is_power_of_two(rows) || !is_power_of_two(columns) || rows > 32 || columns > 32)
    refuse(PyExc_ValueError, "dot_warps", value, kernel, rule);
  options.dot_warps_m = rows;
  options.dot_warps_n = columns;
}

void set_dot_backend(LaunchOptions& options, PyObject* value, const std::string& kernel) {
  const std::string rule = "it is one of 'auto', 'simdgroup', 'mpp', 'wgmma', 'mma'";
  options.dot_backend = DotBackend::kAuto;
  if (value == Py_None) return;
  if (!PyUnicode_Check(value)) refuse(PyExc_TypeError, "dot_backend", value, kernel, rule);
  for (size_t i = 0; i < std::size(kBackendNames); ++i) {
    if (PyUnicode_CompareWithASCIIString(value, kBackendNames[i]) != 0) continue;
    options.dot_backend = static_cast<DotBackend>(i);
    return;
  }
  std::vector<std::string> names(std::begin(kBackendNames), std::end(kBackendNames));
  refuse(PyExc_ValueError, "dot_backend", value, kernel,
         rule + "." + suggestion(text_of(value), names));
}

void set_num_stages(LaunchOptions& options, PyObject* value, const std::string& kernel) {
  const std::string rule = "it is None or an integer from 1 to " + std::to_string(kMostStages);
  options.num_stages = 0;
  if (value == Py_None) return;
  int32_t stages = parse_integer(value, "num_stages", kernel, rule);
  if (stages < 1 || stages > kMostStages)
    refuse(PyExc_ValueError, "num_stages", value, kernel, rule);
  options.num_stages = stages;
}

void set_stream(LaunchOptions& options, PyObject* value, const std::string& kernel) {
  if (value != Py_None)
    refuse(PyExc_TypeError, "stream", value, kernel,
           "it is None, the default stream; this device has no other");
  options.stream = nullptr;
}

struct Option {
  const char* name;
  void (*set)(LaunchOptions&, PyObject*, const std::string&);
};
constexpr Option kOptions[] = {
    {"num_warps", set_num_warps},   {"dot_warps", set_dot_warps}, {"dot_backend", set_dot_backend},
    {"num_stages", set_num_stages}, {"stream", set_stream},
};

}  // namespace

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const Option& option : kOptions) names.push_back(option.name);
  return names;
}

int find_option(PyObject* name) {
  // Keywords in a program's text are interned, so that their address tells them apart.
  static const std::array<PyObject*, std::size(kOptions)> interned = [] {
    std::array<PyObject*, std::size(kOptions)> names;
    for (size_t i = 0; i < names.size(); ++i)
      names[i] = PyUnicode_InternFromString(kOptions[i].name);
    return names;
  }();
  for (size_t i = 0; i < interned.size(); ++i)
    if (interned[i] == name) return static_cast<int>(i);
  if (PyUnicode_CHECK_INTERNED(name)) return -1;
  for (size_t i = 0; i < std::size(kOptions); ++i)
    if (PyUnicode_CompareWithASCIIString(name, kOptions[i].name) == 0) return static_cast<int>(i);
  return -1;
}

void set_option(LaunchOptions& options, int option, PyObject* value, const std::string& kernel) {
  kOptions[option].set(options, value, kernel);
}

void check_options(const LaunchOptions& options, const std::string& kernel) {
  if (options.dot_warps_m == 0) return;
  int32_t product = options.dot_warps_m * options.dot_warps_n;
  if (product == options.num_warps) return;
  raise(PyExc_ValueError, "dot_warps=(" + std::to_string(options.dot_warps_m) + ", " +
                              std::to_string(options.dot_warps_n) + ") for `" + kernel + "` is " +
                              std::to_string(product) + " warps, but num_warps is " +
                              std::to_string(options.num_warps));
}

nb::dict options_dict(const LaunchOptions& options) {
  nb::dict result;
  result["num_warps"] = options.num_warps;
  result["dot_warps"] = options.dot_warps_m == 0
                            ? nb::object(nb::none())
                            : nb::object(nb::make_tuple(options.dot_warps_m, options.dot_warps_n));
  result["dot_backend"] = kBackendNames[static_cast<size_t>(options.dot_backend)];
  result["num_stages"] =
      options.num_stages == 0 ? nb::object(nb::none()) : nb::int_(options.num_stages);
  return result;
}

}  // namespace enceladus
