// Handing a launch to a stream from a Python thread: without the interpreter lock while it waits,
// and with what the kernels printed written out.
#pragma once

#include "runtime/common/stream.h"

namespace enceladus {

enum class Submission : uint8_t {
  kQueues,  // returns once the launch is queued
  kWaits,   // returns once it has run
  // Queues, and waits so that Ctrl-C ends the wait; the launch's resources hold all that it uses.
  kQueuesAndWaits,
};

// Throws what failed on the stream, nanobind::python_error for a failure to print.
void submit_launch(Stream& stream, const Launch& request, Submission submission);

}  // namespace enceladus
