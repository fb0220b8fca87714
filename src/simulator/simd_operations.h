// What SIMD operations compute: values of the lanes in, results out. Knows nothing of fibers.
#pragma once

#include <array>
#include <cstdint>

namespace enceladus::simulator {

inline constexpr uint32_t kLanes = 32;  // of a SIMD group

enum class FragmentLayout : uint8_t;

struct SimdOperands {
  uint32_t operation = 0;
  uint32_t type = 0;
  uint32_t active = 0;  // lanes that take part
  std::array<uint64_t, 32> values{};
  std::array<uint64_t, 32> seconds{};
  std::array<uint64_t, 32> thirds{};
  std::array<uint32_t, 32> parameters{};
};

struct SimdResults {
  std::array<uint64_t, 32> values{};
  uint32_t invalid = 0;  // lanes that read a lane which does not take part or does not exist
};

SimdResults compute(const SimdOperands& operands, FragmentLayout layout);

// Row * 8 + column of the element that a lane of a SIMD group holds of an 8x8 matrix.
uint32_t fragment_place(FragmentLayout layout, uint32_t lane, uint32_t element);

// For messages: "simd_sum".
const char* simd_operation_name(uint32_t operation);

}  // namespace enceladus::simulator
