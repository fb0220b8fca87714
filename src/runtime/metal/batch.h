// Batch: the launches of one command buffer, from its opening until Metal says that it is done.
// Plain data; the stream fills it and `BatchEncoder` encodes into it.
#pragma once

#include <string>
#include <vector>

#include "runtime/common/event.h"
#include "runtime/metal/kernel.h"

namespace enceladus::metal {

// What a failing assertion leaves: 1 + the number of the message, then the program.
struct FailureRecord {
  uint32_t message;
  uint32_t program[3];
};

struct Batch {
  Owned command_buffer;
  uint64_t signal = 0;  // value of the shared event once the launches have run
  Ticket last = 0;      // newest ticket that is complete then
  int32_t launches = 0;
  // The different kernels in order, by name, as the kernels may be gone when Metal reports an
  // error.
  struct Named {
    const MetalKernel* kernel;  // only to tell it from others
    std::string name;
    std::string entry;
  };
  std::vector<Named> kernels;

  // Launches whose kernels may report a failed assertion: each has a record in `failures`.
  struct Asserting {
    const MetalKernel* kernel;  // alive until the ticket of its launch is complete
    const FailureRecord* record;
  };
  std::vector<Asserting> asserting;
  Owned failures;  // the buffer of the newest records

  std::vector<Ref<Event>> behind;  // events recorded right after it
  std::vector<Ref<Event>> ahead;   // events that learn when it began
  std::vector<Owned> garbage;      // released once Metal is done with the command buffer
  bool prints = false;

  bool is_complete = false;  // its tickets are
  bool is_handled = false;   // Metal has called the completed handler
  int64_t begin = 0;         // nanoseconds of the device, once handled
  int64_t end = 0;

  // Whether only the completed handler has what is needed: times, printed lines.
  bool waits_for_handler() const { return prints || !behind.empty() || !ahead.empty(); }
};

}  // namespace enceladus::metal
