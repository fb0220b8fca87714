#include "bindings/tuned_types.h"

#include <structmember.h>

#include <memory>

#include "bindings/bindings.h"
#include "bindings/launch_environment.h"
#include "bindings/launch_errors.h"
#include "bindings/launcher.h"
#include "bindings/native_type.h"
#include "bindings/tuned_choices.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

struct TunedObject {
  PyObject_HEAD TunedChoices* choices;  // null where no launch may be remembered
  PyObject* latest_config;
  PyObject* latest_grid;
};

struct TunedLauncherObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* tuned;
  PyObject* grid;
};

PyTypeObject* tuned_launcher_type = nullptr;

void assign(PyObject*& slot, PyObject* value) {
  if (slot == value) return;
  PyObject* before = std::exchange(slot, Py_NewRef(value));
  Py_XDECREF(before);
}

bool is_interpreted(PyObject* kernel) {
  const KernelState& state = state_of(kernel);
  return state.interpret < 0 ? read_launch_switches().interpret : state.interpret != 0;
}

// Launches with the config's constexprs and options behind the keywords given.
void launch_chosen(const TunedLauncherObject& self, const CallArguments& call,
                   const TunedChoice& choice) {
  constexpr size_t kMostValues = 2 * kMostParameters;
  const auto given = call.positional + static_cast<size_t>(PyTuple_GET_SIZE(choice.names.ptr())) -
                     choice.values.size();
  PyObject* values[kMostValues];
  std::copy(call.values, call.values + given, values);
  for (size_t i = 0; i < choice.values.size(); ++i) values[given + i] = choice.values[i].ptr();
  auto& tuned = native<TunedObject>(self.tuned);
  assign(tuned.latest_config, choice.config.ptr());
  assign(tuned.latest_grid, self.grid);
  launch(tuned.choices->kernel(), {.extents = {}, .function = self.grid},
         {values, call.positional, choice.names.ptr()});
}

// The autotuner's own way, in Python. Returns the config to remember, or None.
nb::object launch_slowly(const TunedLauncherObject& self, const CallArguments& call) {
  nb::list positional;
  for (size_t i = 0; i < call.positional; ++i) positional.append(nb::handle(call.values[i]));
  nb::dict named;
  const Py_ssize_t count = call.keywords == nullptr ? 0 : PyTuple_GET_SIZE(call.keywords);
  for (Py_ssize_t i = 0; i < count; ++i)
    named[nb::handle(PyTuple_GET_ITEM(call.keywords, i))] =
        nb::handle(call.values[call.positional + static_cast<size_t>(i)]);
  return nb::handle(self.tuned)
      .attr("_launch")(nb::handle(self.grid), nb::tuple(positional), named);
}

PyObject* tuned_launcher_vectorcall(PyObject* object, PyObject* const* arguments, size_t flags,
                                    PyObject* keywords) {
  return guarded([&] {
    const auto& self = native<TunedLauncherObject>(object);
    const CallArguments call{arguments, static_cast<size_t>(PyVectorcall_NARGS(flags)), keywords};
    TunedChoices* choices = native<TunedObject>(self.tuned).choices;
    KeyWriter key;
    const bool is_known_kind = choices != nullptr && PyCallable_Check(self.grid) &&
                               !is_interpreted(choices->kernel()) && choices->write_key(call, key);
    if (is_known_kind) {
      if (const auto choice = choices->find(key.view())) {
        launch_chosen(self, call, *choice);
        return Py_NewRef(Py_None);
      }
    }
    nb::object config = launch_slowly(self, call);
    if (is_known_kind && !config.is_none()) choices->remember(key.view(), call, std::move(config));
    return Py_NewRef(Py_None);
  });
}

constexpr inquiry tuned_launcher_clear =
    clear_members<TunedLauncherObject, &TunedLauncherObject::tuned, &TunedLauncherObject::grid>;
constexpr traverseproc tuned_launcher_traverse =
    traverse_members<TunedLauncherObject, &TunedLauncherObject::tuned, &TunedLauncherObject::grid>;

PyObject* tuned_subscript(PyObject* self, PyObject* grid) {
  TunedLauncherObject* launcher = PyObject_GC_New(TunedLauncherObject, tuned_launcher_type);
  if (launcher == nullptr) return nullptr;
  launcher->vectorcall = tuned_launcher_vectorcall;
  launcher->tuned = Py_NewRef(self);
  launcher->grid = Py_NewRef(grid);
  PyObject_GC_Track(launcher);
  return reinterpret_cast<PyObject*>(launcher);
}

// _remember_choices(kernel, key_names)
PyObject* tuned_remember_choices(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    if (count != 2) raise(PyExc_TypeError, "_remember_choices takes kernel and key_names");
    auto choices = std::make_unique<TunedChoices>(nb::borrow(arguments[0]), arguments[1]);
    delete std::exchange(native<TunedObject>(self).choices, choices.release());
    return Py_NewRef(Py_None);
  });
}

PyObject* tuned_forget_choices(PyObject* self, PyObject*) {
  if (TunedChoices* choices = native<TunedObject>(self).choices) choices->forget();
  return Py_NewRef(Py_None);
}

int tuned_clear(PyObject* object) {
  delete std::exchange(native<TunedObject>(object).choices, nullptr);
  return clear_members<TunedObject, &TunedObject::latest_config, &TunedObject::latest_grid>(object);
}

int tuned_traverse(PyObject* object, visitproc visit, void* arg) {
  const int result =
      traverse_members<TunedObject, &TunedObject::latest_config, &TunedObject::latest_grid>(
          object, visit, arg);
  TunedChoices* choices = native<TunedObject>(object).choices;
  return result == 0 && choices != nullptr ? choices->traverse(visit, arg) : result;
}

PyMemberDef tuned_launcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(TunedLauncherObject, vectorcall), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot tuned_launcher_slots[] = {
    {Py_tp_doc, const_cast<char*>("An autotuned kernel with its grid; call it with arguments.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(clear_and_free<tuned_launcher_clear>)},
    {Py_tp_traverse, reinterpret_cast<void*>(tuned_launcher_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(tuned_launcher_clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_members, tuned_launcher_members},
    {0, nullptr}};

PyType_Spec tuned_launcher_spec = {"enceladus._core.TunedLauncher", sizeof(TunedLauncherObject), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                       Py_TPFLAGS_HAVE_VECTORCALL |
                                       Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   tuned_launcher_slots};

PyMemberDef tuned_members[] = {
    {"_latest_config", T_OBJECT, offsetof(TunedObject, latest_config), 0, nullptr},
    {"_latest_grid", T_OBJECT, offsetof(TunedObject, latest_grid), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyMethodDef tuned_methods[] = {
    {"_remember_choices",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(tuned_remember_choices)), METH_FASTCALL,
     "_remember_choices(kernel, key_names): from now on, launches like earlier ones are quick."},
    {"_forget_choices", tuned_forget_choices, METH_NOARGS, "Asks for every choice anew."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot tuned_slots[] = {{Py_tp_doc, const_cast<char*>("The native part of an Autotuner.")},
                             {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
                             {Py_tp_dealloc, reinterpret_cast<void*>(clear_and_free<tuned_clear>)},
                             {Py_tp_traverse, reinterpret_cast<void*>(tuned_traverse)},
                             {Py_tp_clear, reinterpret_cast<void*>(tuned_clear)},
                             {Py_tp_members, tuned_members},
                             {Py_tp_methods, tuned_methods},
                             {Py_mp_subscript, reinterpret_cast<void*>(tuned_subscript)},
                             {0, nullptr}};

PyType_Spec tuned_spec = {"enceladus._core.TunedBase", sizeof(TunedObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                          tuned_slots};

}  // namespace

void add_tuned_types(nb::module_& module) {
  nb::object launcher = nb::steal(PyType_FromSpec(&tuned_launcher_spec));
  nb::object tuned = nb::steal(PyType_FromSpec(&tuned_spec));
  if (!launcher.is_valid() || !tuned.is_valid()) raise_set_error();
  tuned_launcher_type = reinterpret_cast<PyTypeObject*>(launcher.ptr());
  module.attr("TunedLauncher") = launcher;
  module.attr("TunedBase") = tuned;
}

}  // namespace enceladus
