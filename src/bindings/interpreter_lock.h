// The interpreter lock around what takes long, safe at the interpreter's end. There Python before
// 3.14 ends a daemon thread that takes the lock back, or lets go of it in the middle of Python
// code, by `pthread_exit`: that unwinds the C++ below, whose destructors end the process or touch
// objects without the lock. Not: the lock for threads of our own (nanobind's gil_scoped_acquire).
#pragma once

#include <nanobind/nanobind.h>

namespace enceladus {

// Lets go of the lock while it lives. A thread that would be ended sleeps instead, until the
// process is gone.
class InterpreterUnlocked {
 public:
  InterpreterUnlocked() : state_(PyEval_SaveThread()) {}
  InterpreterUnlocked(const InterpreterUnlocked&) = delete;
  InterpreterUnlocked& operator=(const InterpreterUnlocked&) = delete;
  ~InterpreterUnlocked();

 private:
  PyThreadState* state_;
};

// For C++ that has Python code above and below it on the stack: the interpreter's end waits until
// it is left, for ten seconds at most. A thread that enters one later, other than the one that ends
// the interpreter, sleeps until the process is gone. Enter and leave with the lock held.
class BeforeInterpreterEnds {
 public:
  BeforeInterpreterEnds();
  BeforeInterpreterEnds(const BeforeInterpreterEnds&) = delete;
  BeforeInterpreterEnds& operator=(const BeforeInterpreterEnds&) = delete;
  ~BeforeInterpreterEnds();
};

// For the module's start: has the interpreter's end wait for them. That is said when the module is
// imported, as Python heeds nothing that is registered while it ends.
void listen_for_the_end();

}  // namespace enceladus
