// Errors of the simulator that are not reports about a running kernel: text that does not compile,
// and programs that are missing.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace enceladus::simulator {

struct MslMessage {
  uint32_t line = 0;  // of the MSL text, from 1; 0 where unknown
  uint32_t column = 0;
  std::string text;
};

// The MSL text is refused; `what()` lists every message with the line it is about.
class MslError : public std::runtime_error {
 public:
  MslError(const std::string& text, std::vector<MslMessage> messages)
      : std::runtime_error(text), messages_(std::move(messages)) {}
  const std::vector<MslMessage>& messages() const { return messages_; }

 private:
  std::vector<MslMessage> messages_;
};

// Something the simulator needs is missing on this machine or failed: which call, what it answered.
class SimulatorUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace enceladus::simulator
