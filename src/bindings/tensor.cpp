#include "bindings/tensor.h"

#include <nanobind/stl/string.h>

#include <chrono>

#include "bindings/interpreter_lock.h"

namespace enceladus {
namespace nb = nanobind;

PyTypeObject* tensor_type = nullptr;

void TensorObject::set_layout(const Strided& strided) {
  layout = strided;
  negative_stride = has_negative_stride(strided);
  const OffsetRange range = offset_range(strided);
  const auto base = reinterpret_cast<uint64_t>(data);
  low = base + static_cast<uint64_t>(range.low * byte_size(dtype));
  high = base + static_cast<uint64_t>(range.high * byte_size(dtype));
}

nb::object make_tensor(TensorObject value) {
  nb::object object = nb::inst_alloc(reinterpret_cast<PyObject*>(tensor_type));
  new (nb::inst_ptr<TensorObject>(object)) TensorObject(std::move(value));
  nb::inst_mark_ready(object);
  return object;
}

namespace {

// Ctrl-C is looked at this often while waiting.
constexpr std::chrono::milliseconds kSignalInterval(50);
// How long programs that run when their launch is abandoned may take to their end.
constexpr std::chrono::seconds kAbandonmentTime(2);

}  // namespace

void wait_interruptibly(Stream& stream, Ticket ticket) {
  while (!stream.is_complete(ticket)) {
    bool done;
    {
      const InterpreterUnlocked unlocked;
      done = stream.wait(ticket, kSignalInterval);
    }
    if (done || PyErr_CheckSignals() == 0) continue;
    nb::python_error interrupt;
    {
      const InterpreterUnlocked unlocked;
      stream.abandon(ticket);
      stream.wait(ticket, kAbandonmentTime);
    }
    throw interrupt;
  }
}

void wait_for_stream(Stream& stream, Ticket ticket) {
  wait_interruptibly(stream, ticket);
  print_device_lines(stream);
  stream.raise_failure();
}

void print_device_lines(Stream& stream) {
  const std::string lines = stream.take_printed();
  if (lines.empty()) return;
  nb::object out = nb::module_::import_("sys").attr("stdout");
  if (!out.is_none()) out.attr("write")(lines);
}

void wait_for(const TensorObject& tensor) {
  if (tensor.storage->is_exposed()) {  // launches may use the memory by another tensor
    Stream& queue = tensor.device->default_stream();
    return wait_for_stream(queue, queue.newest());
  }
  Stream* stream = tensor.storage->last_stream();
  if (stream) wait_for_stream(*stream, tensor.storage->last_ticket());
}

}  // namespace enceladus
