#include "bindings/launch_submit.h"

#include <exception>

#include "bindings/interpreter_lock.h"
#include "bindings/tensor.h"

namespace nb = nanobind;

namespace enceladus {
namespace {

void run_now(Stream& stream, const Launch& request) {
  std::exception_ptr failure;
  {
    const InterpreterUnlocked unlocked;
    try {
      stream.run_now(request);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  print_device_lines(stream);
  if (failure) std::rethrow_exception(failure);
}

Ticket enqueue(Stream& stream, const Launch& request) {
  if (Ticket ticket = stream.try_enqueue(request)) return ticket;
  // Either the queue is full, or the launch is one that the stream has to wait with.
  wait_interruptibly(stream, stream.ticket_for_room());
  const InterpreterUnlocked unlocked;
  return stream.enqueue(request);
}

}  // namespace

void submit_launch(Stream& stream, const Launch& request, Submission submission) {
  if (submission == Submission::kWaits) return run_now(stream, request);
  const Ticket ticket = enqueue(stream, request);
  if (submission == Submission::kQueuesAndWaits) wait_for_stream(stream, ticket);
}

}  // namespace enceladus
