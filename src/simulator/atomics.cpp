#include "simulator/atomics.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "simulator/metal_headers/enceladus/operations.h"

namespace enceladus::simulator {
namespace {

template <class T>
T unpack(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T changed(uint32_t operation, T old, T operand) {
  switch (operation) {
    case ENCELADUS_ATOMIC_STORE:
    case ENCELADUS_ATOMIC_EXCHANGE:
    case ENCELADUS_ATOMIC_COMPARE_EXCHANGE:
      return operand;
    case ENCELADUS_ATOMIC_MAX:
      return std::max(old, operand);
    case ENCELADUS_ATOMIC_MIN:
      return std::min(old, operand);
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (operation == ENCELADUS_ATOMIC_ADD) return old + operand;
    if (operation == ENCELADUS_ATOMIC_SUB) return old - operand;
  } else {
    using Unsigned = std::make_unsigned_t<T>;
    auto x = static_cast<Unsigned>(old), y = static_cast<Unsigned>(operand);
    if (operation == ENCELADUS_ATOMIC_ADD) return static_cast<T>(x + y);
    if (operation == ENCELADUS_ATOMIC_SUB) return static_cast<T>(x - y);
    if (operation == ENCELADUS_ATOMIC_AND) return static_cast<T>(x & y);
    if (operation == ENCELADUS_ATOMIC_OR) return static_cast<T>(x | y);
    if (operation == ENCELADUS_ATOMIC_XOR) return static_cast<T>(x ^ y);
  }
  return old;
}

template <class T>
AtomicResult perform(void* address, const AtomicOperands& operands) {
  AtomicResult result;
  std::memcpy(&result.old, address, sizeof(T));
  bool compares = operands.operation == ENCELADUS_ATOMIC_COMPARE_EXCHANGE;
  // Bits are compared, as hardware does, also for floats.
  result.exchanged = compares && !operands.fail &&
                     result.old == (operands.compare & (~uint64_t{0} >> (64 - 8 * sizeof(T))));
  if (compares && !result.exchanged) return result;
  T value = changed(operands.operation, unpack<T>(result.old), unpack<T>(operands.operand));
  std::memcpy(address, &value, sizeof value);
  return result;
}

}  // namespace

AtomicResult perform_atomic(void* address, const AtomicOperands& operands) {
  switch (operands.type) {
    case ENCELADUS_INT:
      return perform<int32_t>(address, operands);
    case ENCELADUS_FLOAT:
      return perform<float>(address, operands);
    case ENCELADUS_ULONG:
      return perform<uint64_t>(address, operands);
    default:
      return perform<uint32_t>(address, operands);
  }
}

uint32_t atomic_bytes(uint32_t type) { return type == ENCELADUS_ULONG ? 8 : 4; }

bool atomic_writes(uint32_t operation) { return operation != ENCELADUS_ATOMIC_LOAD; }

}  // namespace enceladus::simulator
