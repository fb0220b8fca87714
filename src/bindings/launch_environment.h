// The two environment variables that every launch follows. One pass over the process's
// environment, which os.environ keeps up to date; tens of nanoseconds.
#pragma once

namespace enceladus {

struct LaunchSwitches {
  bool interpret = false;  // ENCELADUS_INTERPRET
  bool debug = false;      // ENCELADUS_DEBUG
};

// Needs the interpreter lock, under which os.environ writes.
LaunchSwitches read_launch_switches();

}  // namespace enceladus
