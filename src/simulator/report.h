// What the simulator found wrong with a kernel, as plain data for messages and tests.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace enceladus::simulator {

enum class ReportKind : uint8_t {
  kOutOfBounds,       // outside every buffer and threadgroup array
  kMisaligned,        // the address is no multiple of what the access needs
  kUninitialized,     // threadgroup memory read before this threadgroup wrote it
  kRace,              // two accesses without a barrier between them
  kReadOnlyWrite,     // a store to a constant or read-only buffer
  kDivergentSimd,     // a SIMD operation that not all lanes of the group execute
  kDivergentBarrier,  // a threadgroup barrier that not all threads execute
  kInactiveLane,      // a shuffle that reads a lane which does not take part, or none
  kEndlessLoop,       // the watchdog stopped the launch
  kForeignStack,      // an access to another thread's private memory
  kStackOverflow,     // a thread's private variables do not fit into its stack
};

// The word that starts a message: "out of bounds", "race".
const char* name_of(ReportKind kind);

struct Place {
  uint32_t line = 0;    // of the MSL text, from 1; 0 where unknown
  uint32_t column = 0;  // from 1; 0 where unknown
  std::string text;     // the line itself, without indentation
  std::string source;   // "softmax.py:12", from the nearest comment above that says so
};

struct Report {
  ReportKind kind = ReportKind::kOutOfBounds;
  std::string kernel;
  std::string message;              // one sentence with values, without places
  Place place;                      // of the access or operation
  std::array<uint32_t, 3> program;  // threadgroup position of the first occurrence
  uint32_t thread = 0;              // thread index in the threadgroup
  // The other side: the earlier access of a race, the lane or thread that is elsewhere.
  bool has_other = false;
  Place other_place;
  std::array<uint32_t, 3> other_program = {0, 0, 0};
  uint32_t other_thread = 0;
  uint64_t count = 1;  // occurrences at the same place
};

using Reports = std::vector<Report>;

// Several lines: the message, the places with their text, program and threads.
std::string to_string(const Report& report);

}  // namespace enceladus::simulator
