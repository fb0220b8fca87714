// The Python types of the launch path, written against the C API: nanobind's dispatch would cost
// as much as the rest of a launch.
#include <nanobind/nanobind.h>
#include <structmember.h>

#include <array>

#include "bindings/launch_errors.h"
#include "bindings/launcher.h"
#include "bindings/native_type.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

struct LauncherObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* kernel;
  PyObject* grid_function;  // null: `extents` holds the grid
  Grid extents;
};

// Launchers that nobody holds, ready to be handed out again. They keep their type alive.
struct FreeLaunchers {
  std::array<LauncherObject*, 16> objects;
  size_t count = 0;
};
FreeLaunchers free_launchers;  // under the interpreter lock
PyTypeObject* launcher_type = nullptr;

// Launcher ----------------------------------------------------------------------------------

PyObject* launcher_vectorcall(PyObject* object, PyObject* const* arguments, size_t flags,
                              PyObject* keywords) {
  return guarded([&] {
    const auto& self = native<LauncherObject>(object);
    CallArguments call{arguments, static_cast<size_t>(PyVectorcall_NARGS(flags)), keywords};
    launch(self.kernel, {self.extents, self.grid_function}, call);
    return Py_NewRef(Py_None);
  });
}

LauncherObject* new_launcher() {
  if (free_launchers.count > 0) {
    LauncherObject* self = free_launchers.objects[--free_launchers.count];
    Py_SET_REFCNT(reinterpret_cast<PyObject*>(self), 1);
    return self;
  }
  LauncherObject* self = PyObject_GC_New(LauncherObject, launcher_type);
  if (self == nullptr) raise_set_error();
  self->vectorcall = launcher_vectorcall;
  return self;
}

constexpr inquiry launcher_clear =
    clear_members<LauncherObject, &LauncherObject::kernel, &LauncherObject::grid_function>;
constexpr traverseproc launcher_traverse =
    traverse_members<LauncherObject, &LauncherObject::kernel, &LauncherObject::grid_function>;

void launcher_dealloc(PyObject* object) {
  if (free_launchers.count == free_launchers.objects.size())
    return clear_and_free<launcher_clear>(object);
  PyObject_GC_UnTrack(object);
  launcher_clear(object);
  free_launchers.objects[free_launchers.count++] = &native<LauncherObject>(object);
}

PyMemberDef launcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(LauncherObject, vectorcall), READONLY, nullptr},
    {"kernel", T_OBJECT_EX, offsetof(LauncherObject, kernel), READONLY, "what is launched"},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot launcher_slots[] = {
    {Py_tp_doc, const_cast<char*>("A kernel with its grid; call it with the kernel's arguments.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(launcher_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(launcher_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(launcher_clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_members, launcher_members},
    {0, nullptr}};

PyType_Spec launcher_spec = {"enceladus._core.Launcher", sizeof(LauncherObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             launcher_slots};

// KernelBase --------------------------------------------------------------------------------

KernelState*& state_slot(PyObject* kernel) { return native<KernelObject>(kernel).state; }

PyObject* kernel_subscript(PyObject* self, PyObject* grid) {
  return guarded([&] {
    KernelState& state = state_of(self);
    bool is_function = !PyTuple_CheckExact(grid) && PyCallable_Check(grid);
    Grid extents = is_function ? Grid{} : parse_grid(grid, state.name, "grid");
    LauncherObject* launcher = new_launcher();
    launcher->kernel = Py_NewRef(self);
    launcher->grid_function = is_function ? Py_NewRef(grid) : nullptr;
    launcher->extents = extents;
    PyObject_GC_Track(launcher);
    return reinterpret_cast<PyObject*>(launcher);
  });
}

KernelParameter parameter_from(nb::handle parameter) {
  auto is = [&](const char* attribute) { return nb::cast<bool>(parameter.attr(attribute)); };
  KernelParameter result;
  PyObject* name = nb::object(parameter.attr("name")).release().ptr();
  PyUnicode_InternInPlace(&name);
  result.name = nb::steal(name);
  result.text = text_of(name);
  if (is("has_default")) result.default_value = parameter.attr("default");
  result.is_constexpr = is("is_constexpr");
  result.do_not_specialize = is("do_not_specialize");
  result.do_not_specialize_on_alignment = is("do_not_specialize_on_alignment");
  result.keyword_only = is("keyword_only");
  result.positional_only = is("positional_only");
  return result;
}

int8_t switch_value(nb::handle value) {
  return value.is_none() ? int8_t{-1} : static_cast<int8_t>(nb::cast<bool>(value));
}

// _configure(name, parameters, interpret, debug)
PyObject* kernel_configure(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    if (count != 4) raise(PyExc_TypeError, "_configure takes name, parameters, interpret, debug");
    auto state = std::make_unique<KernelState>();
    state->name = text_of(arguments[0]);
    for (nb::handle parameter : nb::handle(arguments[1]))
      state->parameters.push_back(parameter_from(parameter));
    if (state->parameters.size() > kMostParameters)
      raise(PyExc_ValueError,
            "`" + state->name + "` has " + std::to_string(state->parameters.size()) +
                " parameters; a kernel has at most " + std::to_string(kMostParameters));
    state->interpret = switch_value(arguments[2]);
    state->debug = switch_value(arguments[3]);
    delete std::exchange(state_slot(self), state.release());
    return Py_NewRef(Py_None);
  });
}

PyObject* kernel_prepare(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                         PyObject* keywords) {
  return guarded([&] {
    return prepare(self, {arguments, static_cast<size_t>(count), keywords}).release().ptr();
  });
}

PyObject* kernel_bind(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                      PyObject* keywords) {
  return guarded([&] {
    KernelState& state = state_of(self);
    BoundCall bound(state.parameters.size());
    bind_call(state, {arguments, static_cast<size_t>(count), keywords}, bound);
    return nb::make_tuple(bound_dict(state, bound), options_dict(bound.options)).release().ptr();
  });
}

int kernel_clear(PyObject* self) {
  delete std::exchange(state_slot(self), nullptr);
  return 0;
}

int kernel_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  KernelState* state = state_slot(self);
  if (state == nullptr) return 0;
  for (const KernelParameter& parameter : state->parameters)
    Py_VISIT(parameter.default_value.ptr());
  if (int result = state->table.traverse(visit, arg)) return result;
  return state->objects.traverse(visit, arg);
}

PyMethodDef kernel_methods[] = {
    {"_configure", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(kernel_configure)),
     METH_FASTCALL, "_configure(name, parameters, interpret, debug)"},
    {"_prepare", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(kernel_prepare)),
     METH_FASTCALL | METH_KEYWORDS, "Compiles for the arguments; returns the CompiledKernel."},
    {"bind_arguments", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(kernel_bind)),
     METH_FASTCALL | METH_KEYWORDS,
     "Returns (every parameter by name, launch options) for the arguments of a launch."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot kernel_slots[] = {
    {Py_tp_doc, const_cast<char*>("The native part of a JITFunction.")},
    {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(clear_and_free<kernel_clear>)},
    {Py_tp_traverse, reinterpret_cast<void*>(kernel_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(kernel_clear)},
    {Py_tp_methods, kernel_methods},
    {Py_mp_subscript, reinterpret_cast<void*>(kernel_subscript)},
    {0, nullptr}};

PyType_Spec kernel_spec = {"enceladus._core.KernelBase", sizeof(KernelObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                           kernel_slots};

}  // namespace

KernelState& state_of(PyObject* kernel) {
  KernelState* state = state_slot(kernel);
  if (state == nullptr)
    raise(PyExc_RuntimeError, "this kernel object is not initialized: its __init__ did not run");
  return *state;
}

void add_launcher_types(nb::module_& module) {
  nb::object launcher = nb::steal(PyType_FromSpec(&launcher_spec));
  nb::object kernel = nb::steal(PyType_FromSpec(&kernel_spec));
  if (!launcher.is_valid() || !kernel.is_valid()) raise_set_error();
  launcher_type = reinterpret_cast<PyTypeObject*>(launcher.ptr());
  module.attr("Launcher") = launcher;
  module.attr("KernelBase") = kernel;
}

}  // namespace enceladus
