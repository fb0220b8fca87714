#include "bindings/tuned_choices.h"

#include <bit>
#include <cstdint>

#include "bindings/argument_view.h"
#include "bindings/devices.h"
#include "bindings/launch_errors.h"
#include "bindings/launcher.h"
#include "bindings/numpy_view.h"
#include "bindings/tensor.h"
#include "bindings/torch_view.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

// Beyond this many, launches vary too much for remembering to help.
constexpr size_t kMostChoices = 4096;

void write_array(char origin, DType dtype, const Device* device, KeyWriter& key) {
  key.byte(static_cast<uint8_t>(origin));
  key.byte(static_cast<uint8_t>(dtype));
  key.word(reinterpret_cast<uint64_t>(device));
}

// False for what is no array that a kernel takes.
bool write_array(PyObject* value, KeyWriter& key) {
  try {
    if (is_tensor(value)) {
      const TensorObject& tensor = *tensor_object(value);
      write_array('T', tensor.dtype, tensor.device, key);
    } else if (is_numpy_array(value)) {
      write_array('A', numpy_dtype(*reinterpret_cast<NumpyArray*>(value)), nullptr, key);
    } else if (is_torch_tensor(value)) {
      ArgumentView view;
      view_torch_tensor(value, &view);
      write_array('P', view.dtype, view.device, key);
    } else {
      return false;
    }
  } catch (const ArgumentProblem&) {
    return false;  // the launch says what is wrong
  }
  return true;
}

bool write_integer(PyObject* value, bool is_key, KeyWriter& key) {
  int overflow = 0;
  const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0) return false;
  const bool is_narrow = integer >= INT32_MIN && integer <= INT32_MAX;
  key.byte(is_narrow ? 'i' : 'l');
  if (is_key) key.word(static_cast<uint64_t>(integer));
  return true;
}

int parameter_named(const KernelState& kernel, PyObject* name) {
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    if (kernel.parameters[i].name.ptr() == name) return static_cast<int>(i);
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    if (PyUnicode_Compare(kernel.parameters[i].name.ptr(), name) == 0) return static_cast<int>(i);
  return -1;
}

}  // namespace

TunedChoices::TunedChoices(nb::object kernel, nb::handle key_names) : kernel_(std::move(kernel)) {
  const KernelState& state = state_of(kernel_.ptr());
  is_key_.resize(state.parameters.size());
  for (nb::handle name : key_names) {
    const int index = parameter_named(state, name.ptr());
    if (index >= 0) is_key_[static_cast<size_t>(index)] = true;
  }
}

bool TunedChoices::write_argument(PyObject* value, int parameter, KeyWriter& key) const {
  if (parameter < 0) return true;  // an option of the launch
  const auto index = static_cast<size_t>(parameter);
  const bool is_key = is_key_[index];
  if (!is_key && state_of(kernel_.ptr()).parameters[index].is_constexpr) return true;
  if (PyLong_CheckExact(value)) return write_integer(value, is_key, key);
  if (value == Py_None || PyBool_Check(value)) {
    key.byte(value == Py_None ? 'N' : 'b');
    if (is_key) key.byte(value == Py_True);
    return true;
  }
  if (PyFloat_CheckExact(value)) {
    key.byte('f');
    if (is_key) key.word(std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value)));
    return true;
  }
  if (is_key && PyUnicode_CheckExact(value)) {
    key.byte('s');
    key.text(text_of(value));
    return true;
  }
  return !is_key && write_array(value, key);
}

bool TunedChoices::write_key(const CallArguments& call, KeyWriter& key) const {
  const KernelState& state = state_of(kernel_.ptr());
  if (call.positional > state.parameters.size()) return false;
  key.word(reinterpret_cast<uint64_t>(&current_device()));
  key.word(call.positional);
  for (size_t i = 0; i < call.positional; ++i)
    if (!write_argument(call.values[i], static_cast<int>(i), key)) return false;
  const Py_ssize_t named = call.keywords == nullptr ? 0 : PyTuple_GET_SIZE(call.keywords);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(call.keywords, i);
    key.word(reinterpret_cast<uint64_t>(name));
    PyObject* value = call.values[call.positional + static_cast<size_t>(i)];
    if (!write_argument(value, parameter_named(state, name), key)) return false;
  }
  return true;
}

std::shared_ptr<const TunedChoice> TunedChoices::find(std::string_view key) const {
  const auto found = choices_.find(key);
  return found != choices_.end() ? found->second : nullptr;
}

void TunedChoices::remember(std::string_view key, const CallArguments& call, nb::object config) {
  auto choice = std::make_shared<TunedChoice>();
  nb::list names;
  choice->keywords = nb::none();
  if (call.keywords != nullptr) {
    choice->keywords = nb::borrow(call.keywords);
    for (nb::handle name : nb::borrow<nb::tuple>(call.keywords)) names.append(name);
  }
  const nb::dict added = nb::cast<nb::dict>(config.attr("all_kwargs")());
  for (auto [name, value] : added) {
    names.append(name);
    choice->values.push_back(nb::borrow(value));
  }
  choice->names = nb::tuple(names);
  choice->config = std::move(config);
  if (choices_.size() >= kMostChoices) choices_.clear();
  choices_.insert_or_assign(std::string(key), std::move(choice));
}

int TunedChoices::traverse(visitproc visit, void* arg) {
  Py_VISIT(kernel_.ptr());
  for (const auto& [key, choice] : choices_) {
    Py_VISIT(choice->config.ptr());
    for (const nb::object& value : choice->values) Py_VISIT(value.ptr());
  }
  return 0;
}

}  // namespace enceladus
