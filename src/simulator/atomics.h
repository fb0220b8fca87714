// Atomic operations on memory: since only one fiber runs at a time, plain loads and stores.
#pragma once

#include <cstdint>

namespace enceladus::simulator {

struct AtomicOperands {
  uint32_t operation = 0;  // of EnceladusAtomicOperation
  uint32_t type = 0;       // of EnceladusType: int, uint, ulong or float
  uint64_t operand = 0;
  uint64_t compare = 0;
  bool fail = false;  // a weak exchange that fails without a cause
};

struct AtomicResult {
  uint64_t old = 0;
  bool exchanged = false;
};

AtomicResult perform_atomic(void* address, const AtomicOperands& operands);
uint32_t atomic_bytes(uint32_t type);
bool atomic_writes(uint32_t operation);

}  // namespace enceladus::simulator
