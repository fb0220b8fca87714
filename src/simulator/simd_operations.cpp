#include "simulator/simd_operations.h"

#include <bit>
#include <cmath>
#include <type_traits>

#include "simulator/metal_headers/enceladus/operations.h"
#include "simulator/simulated_kernel.h"
#include "support/floats.h"

namespace enceladus::simulator {
namespace {

// A half that computes as hardware does: every operation rounds to half.
struct Half {
  float value;
};
Half round_half(float value) {
  return {
      static_cast<float>(value_of_format(round_to_format(value, kFloat16Format), kFloat16Format))};
}

template <class T>
T unpack(uint64_t bits) {
  if constexpr (std::is_same_v<T, Half>) {
    return {static_cast<float>(value_of_format(bits & 0xffff, kFloat16Format))};
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
uint64_t pack(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return round_to_format(value.value, kFloat16Format);
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(value);
  } else {
    return static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  }
}

enum class Combine : uint8_t { kSum, kProduct, kMax, kMin, kAnd, kOr, kXor };

template <class T>
T combine_integers(Combine how, T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  auto x = static_cast<Unsigned>(a), y = static_cast<Unsigned>(b);
  switch (how) {
    case Combine::kSum:
      return static_cast<T>(x + y);
    case Combine::kProduct:
      return static_cast<T>(static_cast<uint64_t>(x) * y);
    case Combine::kMax:
      return a < b ? b : a;
    case Combine::kMin:
      return b < a ? b : a;
    case Combine::kAnd:
      return static_cast<T>(x & y);
    case Combine::kOr:
      return static_cast<T>(x | y);
    case Combine::kXor:
      return static_cast<T>(x ^ y);
  }
  return a;
}

// A NaN loses against a number in max and min, as in `fmax`.
float combine_floats(Combine how, float a, float b) {
  switch (how) {
    case Combine::kSum:
      return a + b;
    case Combine::kProduct:
      return a * b;
    case Combine::kMax:
      return std::fmax(a, b);
    case Combine::kMin:
      return std::fmin(a, b);
    default:
      return a;  // not declared for floats
  }
}

template <class T>
T combine(Combine how, T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    return combine_floats(how, a, b);
  } else if constexpr (std::is_same_v<T, Half>) {
    return round_half(combine_floats(how, a.value, b.value));
  } else {
    return combine_integers(how, a, b);
  }
}

bool is_active(const SimdOperands& operands, uint32_t lane) {
  return lane < kLanes && (operands.active >> lane & 1) != 0;
}

// A tree over neighbours that skips lanes which do not take part.
template <class T>
void reduce(const SimdOperands& operands, Combine how, SimdResults& results) {
  std::array<T, kLanes> values;
  uint32_t present = operands.active;
  for (uint32_t i = 0; i < kLanes; ++i) values[i] = unpack<T>(operands.values[i]);
  for (uint32_t distance = kLanes / 2; distance > 0; distance /= 2) {
    for (uint32_t i = 0; i < distance; ++i) {
      bool here = (present >> i & 1) != 0, there = (present >> (i + distance) & 1) != 0;
      if (there)
        values[i] = here ? combine(how, values[i], values[i + distance]) : values[i + distance];
      if (there) present |= 1u << i;
    }
  }
  results.values.fill(pack(values[0]));
}

template <class T>
void scan(const SimdOperands& operands, Combine how, bool inclusive, SimdResults& results) {
  T identity = [&] {
    if constexpr (std::is_same_v<T, Half>)
      return Half{how == Combine::kSum ? 0.0f : 1.0f};
    else
      return static_cast<T>(how == Combine::kSum ? 0 : 1);
  }();
  T total = identity;
  for (uint32_t i = 0; i < kLanes; ++i) {
    if (!is_active(operands, i)) continue;
    T next = combine(how, total, unpack<T>(operands.values[i]));
    results.values[i] = pack(inclusive ? next : total);
    total = next;
  }
}

template <class T>
bool compute_numbers(const SimdOperands& operands, SimdResults& results) {
  switch (operands.operation) {
    case ENCELADUS_SIMD_SUM:
      return reduce<T>(operands, Combine::kSum, results), true;
    case ENCELADUS_SIMD_PRODUCT:
      return reduce<T>(operands, Combine::kProduct, results), true;
    case ENCELADUS_SIMD_MAX:
      return reduce<T>(operands, Combine::kMax, results), true;
    case ENCELADUS_SIMD_MIN:
      return reduce<T>(operands, Combine::kMin, results), true;
    case ENCELADUS_SIMD_AND:
      return reduce<T>(operands, Combine::kAnd, results), true;
    case ENCELADUS_SIMD_OR:
      return reduce<T>(operands, Combine::kOr, results), true;
    case ENCELADUS_SIMD_XOR:
      return reduce<T>(operands, Combine::kXor, results), true;
    case ENCELADUS_SIMD_PREFIX_INCLUSIVE_SUM:
      return scan<T>(operands, Combine::kSum, true, results), true;
    case ENCELADUS_SIMD_PREFIX_EXCLUSIVE_SUM:
      return scan<T>(operands, Combine::kSum, false, results), true;
    case ENCELADUS_SIMD_PREFIX_INCLUSIVE_PRODUCT:
      return scan<T>(operands, Combine::kProduct, true, results), true;
    case ENCELADUS_SIMD_PREFIX_EXCLUSIVE_PRODUCT:
      return scan<T>(operands, Combine::kProduct, false, results), true;
    default:
      return false;
  }
}

bool compute_typed(const SimdOperands& operands, SimdResults& results) {
  switch (operands.type) {
    case ENCELADUS_CHAR:
      return compute_numbers<int8_t>(operands, results);
    case ENCELADUS_UCHAR:
      return compute_numbers<uint8_t>(operands, results);
    case ENCELADUS_SHORT:
      return compute_numbers<int16_t>(operands, results);
    case ENCELADUS_USHORT:
      return compute_numbers<uint16_t>(operands, results);
    case ENCELADUS_INT:
      return compute_numbers<int32_t>(operands, results);
    case ENCELADUS_UINT:
      return compute_numbers<uint32_t>(operands, results);
    case ENCELADUS_HALF:
      return compute_numbers<Half>(operands, results);
    case ENCELADUS_FLOAT:
      return compute_numbers<float>(operands, results);
    default:
      return false;
  }
}

struct Source {
  uint32_t lane;
  bool own = false;     // beyond the end: the lane keeps its own value
  bool second = false;  // take the filling instead of the value
};

Source source_of(const SimdOperands& operands, uint32_t lane) {
  uint32_t parameter = operands.parameters[lane];
  switch (operands.operation) {
    case ENCELADUS_SIMD_BROADCAST_FIRST:
      return {static_cast<uint32_t>(std::countr_zero(operands.active))};
    case ENCELADUS_SIMD_SHUFFLE_XOR:
      return {lane ^ parameter};
    case ENCELADUS_SIMD_SHUFFLE_UP:
      return {lane - parameter, lane < parameter};
    case ENCELADUS_SIMD_SHUFFLE_DOWN:
      return {lane + parameter, lane + parameter >= kLanes};
    case ENCELADUS_SIMD_ROTATE_UP:
      return {(lane - parameter) % kLanes};
    case ENCELADUS_SIMD_ROTATE_DOWN:
      return {(lane + parameter) % kLanes};
    case ENCELADUS_SIMD_FILL_UP:
      return {(lane - parameter) % kLanes, false, lane < parameter};
    case ENCELADUS_SIMD_FILL_DOWN:
      return {(lane + parameter) % kLanes, false, lane + parameter >= kLanes};
    default:  // broadcast and shuffle name the lane
      return {parameter};
  }
}

void move_values(const SimdOperands& operands, SimdResults& results) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!is_active(operands, lane)) continue;
    Source source = source_of(operands, lane);
    if (source.own) {
      results.values[lane] = operands.values[lane];
    } else if (!is_active(operands, source.lane)) {
      results.invalid |= 1u << lane;
      results.values[lane] = ~uint64_t{0};
    } else {
      results.values[lane] =
          source.second ? operands.seconds[source.lane] : operands.values[source.lane];
    }
  }
}

void vote(const SimdOperands& operands, SimdResults& results) {
  uint64_t votes = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (is_active(operands, lane) && operands.values[lane] != 0) votes |= uint64_t{1} << lane;
  }
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint64_t& result = results.values[lane];
    switch (operands.operation) {
      case ENCELADUS_SIMD_ALL:
        result = votes == operands.active;
        break;
      case ENCELADUS_SIMD_ANY:
        result = votes != 0;
        break;
      case ENCELADUS_SIMD_ACTIVE_MASK:
        result = operands.active;
        break;
      case ENCELADUS_SIMD_IS_FIRST:
        result = lane == static_cast<uint32_t>(std::countr_zero(operands.active));
        break;
      default:
        result = votes;
    }
  }
}

using Matrix = std::array<std::array<float, 8>, 8>;

Matrix gather(const std::array<uint64_t, kLanes>& pairs, FragmentLayout layout) {
  Matrix matrix;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t element = 0; element < 2; ++element) {
      uint32_t place = fragment_place(layout, lane, element);
      matrix[place / 8][place % 8] =
          std::bit_cast<float>(static_cast<uint32_t>(pairs[lane] >> (32 * element)));
    }
  }
  return matrix;
}

void multiply(const SimdOperands& operands, FragmentLayout layout, SimdResults& results) {
  Matrix a = gather(operands.values, layout), b = gather(operands.seconds, layout),
         c = gather(operands.thirds, layout);
  for (int row = 0; row < 8; ++row) {
    for (int k = 0; k < 8; ++k) {
      for (int column = 0; column < 8; ++column) c[row][column] += a[row][k] * b[k][column];
    }
  }
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t element = 0; element < 2; ++element) {
      uint32_t place = fragment_place(layout, lane, element);
      uint64_t bits = std::bit_cast<uint32_t>(c[place / 8][place % 8]);
      results.values[lane] |= bits << (32 * element);
    }
  }
}

}  // namespace

uint32_t fragment_place(FragmentLayout layout, uint32_t lane, uint32_t element) {
  uint32_t quad = lane / 4;
  uint32_t row = (quad & 4) + (lane / 2) % 4;
  uint32_t column = (quad & 2) * 2 + (lane % 2) * 2 + element;
  // The other layout: rows and columns exchanged, both in reverse order.
  if (layout == FragmentLayout::kPermuted) return (7 - column) * 8 + (7 - row);
  return row * 8 + column;
}

SimdResults compute(const SimdOperands& operands, FragmentLayout layout) {
  SimdResults results;
  if (compute_typed(operands, results)) return results;
  switch (operands.operation) {
    case ENCELADUS_SIMD_CONVERGE:
    case ENCELADUS_SIMD_BARRIER:
    case ENCELADUS_SIMD_SCOPE:
      break;
    case ENCELADUS_SIMD_MULTIPLY:
      multiply(operands, layout, results);
      break;
    case ENCELADUS_SIMD_BALLOT:
    case ENCELADUS_SIMD_ALL:
    case ENCELADUS_SIMD_ANY:
    case ENCELADUS_SIMD_ACTIVE_MASK:
    case ENCELADUS_SIMD_IS_FIRST:
      vote(operands, results);
      break;
    default:
      move_values(operands, results);
  }
  return results;
}

const char* simd_operation_name(uint32_t operation) {
  constexpr const char* kNames[] = {"simd_sum",
                                    "simd_product",
                                    "simd_max",
                                    "simd_min",
                                    "simd_and",
                                    "simd_or",
                                    "simd_xor",
                                    "simd_prefix_inclusive_sum",
                                    "simd_prefix_exclusive_sum",
                                    "simd_prefix_inclusive_product",
                                    "simd_prefix_exclusive_product",
                                    "simd_broadcast",
                                    "simd_broadcast_first",
                                    "simd_shuffle",
                                    "simd_shuffle_xor",
                                    "simd_shuffle_up",
                                    "simd_shuffle_down",
                                    "simd_shuffle_rotate_up",
                                    "simd_shuffle_rotate_down",
                                    "simd_shuffle_and_fill_up",
                                    "simd_shuffle_and_fill_down",
                                    "simd_ballot",
                                    "simd_all",
                                    "simd_any",
                                    "simd_active_threads_mask",
                                    "simd_is_first",
                                    "a matrix load or store",
                                    "simdgroup_multiply_accumulate",
                                    "simdgroup_barrier",
                                    "a tensor operation"};
  static_assert(std::size(kNames) == ENCELADUS_SIMD_SCOPE + 1);
  return operation < std::size(kNames) ? kNames[operation] : "a SIMD operation";
}

}  // namespace enceladus::simulator
