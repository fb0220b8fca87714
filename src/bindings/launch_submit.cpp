#include "bindings/launch_submit.h"

#include <exception>

#include "bindings/tensor.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

void run_now(Stream& stream, const Launch& request) {
  std::exception_ptr failure;
  {
    nb::gil_scoped_release unlocked;
    try {
      stream.run_now(request);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  print_device_lines(stream);
  if (failure) std::rethrow_exception(failure);
}

void enqueue(Stream& stream, const Launch& request) {
  if (stream.try_enqueue(request) != 0) return;
  nb::gil_scoped_release unlocked;
  stream.enqueue(request);
}

}  // namespace

void submit_launch(Stream& stream, const Launch& request, Submission submission) {
  if (submission == Submission::kWaits)
    run_now(stream, request);
  else
    enqueue(stream, request);
}

}  // namespace enceladus
