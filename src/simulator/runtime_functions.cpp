#include "simulator/runtime_functions.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "simulator/execution.h"
#include "simulator/metal_headers/enceladus/operations.h"
#include "support/floats.h"

namespace enceladus::simulator {
namespace {

uintptr_t address_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Callbacks of the instrumentation. They must not be inlined into anything: the return address
// tells which instruction of the kernel asks.
template <size_t size, size_t alignment, bool write>
void on_access(const void* address) {
  Execution::current().access(address_of(address), size, alignment, write,
                              address_of(__builtin_return_address(0)));
}

void on_basic_block() { Execution::current().step(address_of(__builtin_return_address(0))); }

void* checked_copy(void* to, const void* from, size_t bytes) {
  uintptr_t code = address_of(__builtin_return_address(0));
  Execution::current().access(address_of(from), bytes, 1, false, code);
  Execution::current().access(address_of(to), bytes, 1, true, code);
  return std::memmove(to, from, bytes);
}
void* checked_fill(void* to, int value, size_t bytes) {
  Execution::current().access(address_of(to), bytes, 1, true,
                              address_of(__builtin_return_address(0)));
  return std::memset(to, value, bytes);
}

// What the Metal headers declare in enceladus/runtime.h.
uint64_t simd(uint32_t operation, uint32_t type, uint64_t value, uint64_t second,
              uint32_t parameter, uint64_t place) {
  Arrival arrival;
  arrival.operation = operation;
  arrival.type = type;
  arrival.value = value;
  arrival.second = second;
  arrival.parameter = parameter;
  arrival.place = place;
  return Execution::current().simd_operation(arrival);
}

uint64_t multiply(uint64_t a, uint64_t b, uint64_t accumulator, uint64_t place) {
  Arrival arrival;
  arrival.operation = ENCELADUS_SIMD_MULTIPLY;
  arrival.type = ENCELADUS_ULONG;
  arrival.value = a;
  arrival.second = b;
  arrival.third = accumulator;
  arrival.place = place;
  return Execution::current().simd_operation(arrival);
}

void barrier(uint32_t scope, uint32_t memory, uint32_t line, uint32_t column) {
  uint64_t place = uint64_t{line} << 32 | column;
  if (scope == 0) return Execution::current().barrier(memory, place);
  Arrival arrival;
  arrival.operation = ENCELADUS_SIMD_BARRIER;
  arrival.type = ENCELADUS_ULONG;
  arrival.parameter = memory;
  arrival.place = place;
  Execution::current().simd_operation(arrival);
}

void enter_scope(uint32_t simd_groups, uint32_t line, uint32_t column) {
  Arrival arrival;
  arrival.operation = ENCELADUS_SIMD_SCOPE;
  arrival.type = ENCELADUS_ULONG;
  arrival.parameter = simd_groups;
  arrival.place = uint64_t{line} << 32 | column;
  Execution::current().simd_operation(arrival);
  // All groups meet; nothing says that memory is ordered by it.
  if (simd_groups > 1) Execution::current().barrier(0, arrival.place);
}

uint32_t owned_place(uint32_t threads, uint32_t owned, uint32_t slot) {
  return Execution::current().owned_place(threads, owned, slot);
}

uint64_t atomic(uint32_t operation, uint32_t type, uint64_t address, uint64_t operand,
                uint64_t compare) {
  AtomicOperands operands{operation, type, operand, compare};
  return Execution::current().atomic(address, operands, address_of(__builtin_return_address(0)));
}

void log_line(uint32_t, const char* format, uint32_t count, const uint64_t* values) {
  Execution::current().log(format, {values, count});
}

bool exchanged() { return Execution::current().exchanged(); }
uint32_t lane() { return Execution::current().lane(); }
uint32_t place_of_element(uint32_t lane, uint32_t element) {
  return fragment_place(Execution::current().fragment_layout(), lane, element);
}

float exp10_float(float x) { return static_cast<float>(std::pow(10.0, static_cast<double>(x))); }
// Exact at whole and half numbers, since the angle is reduced before it is multiplied by pi.
double reduced_turn(float x) { return std::remainder(static_cast<double>(x), 2.0); }
float sinpi_float(float x) {
  double turn = reduced_turn(x);
  if (turn == std::trunc(turn)) return std::copysign(0.0f, x);
  return static_cast<float>(std::sin(turn * std::numbers::pi));
}
float cospi_float(float x) {
  double turn = std::fabs(reduced_turn(x));
  if (turn == 0.5) return 0.0f;
  return static_cast<float>(std::cos(turn * std::numbers::pi));
}

// Clang rounds to bfloat by a call; the result travels in the low 16 bits of a vector register.
float narrow_to_bfloat(float x) {
  uint64_t bits = round_to_format(static_cast<double>(x), kBFloat16Format);
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

template <auto function>
void* erase() {
  return reinterpret_cast<void*>(function);
}

struct RuntimeFunction {
  std::string_view name;
  void* address;
};

using UnaryFloat = float (*)(float);
using BinaryFloat = float (*)(float, float);

template <size_t size, size_t alignment, bool write>
void* access_callback() {
  return reinterpret_cast<void*>(&on_access<size, alignment, write>);
}

void add_instrumentation(std::vector<RuntimeFunction>& functions) {
  functions.insert(functions.end(), {{"__tsan_read1", access_callback<1, 1, false>()},
                                     {"__tsan_read2", access_callback<2, 2, false>()},
                                     {"__tsan_read4", access_callback<4, 4, false>()},
                                     {"__tsan_read8", access_callback<8, 8, false>()},
                                     {"__tsan_read16", access_callback<16, 16, false>()},
                                     {"__tsan_write1", access_callback<1, 1, true>()},
                                     {"__tsan_write2", access_callback<2, 2, true>()},
                                     {"__tsan_write4", access_callback<4, 4, true>()},
                                     {"__tsan_write8", access_callback<8, 8, true>()},
                                     {"__tsan_write16", access_callback<16, 16, true>()},
                                     {"__tsan_unaligned_read2", access_callback<2, 1, false>()},
                                     {"__tsan_unaligned_read4", access_callback<4, 1, false>()},
                                     {"__tsan_unaligned_read8", access_callback<8, 1, false>()},
                                     {"__tsan_unaligned_read16", access_callback<16, 1, false>()},
                                     {"__tsan_unaligned_write2", access_callback<2, 1, true>()},
                                     {"__tsan_unaligned_write4", access_callback<4, 1, true>()},
                                     {"__tsan_unaligned_write8", access_callback<8, 1, true>()},
                                     {"__tsan_unaligned_write16", access_callback<16, 1, true>()},
                                     {"__tsan_memcpy", erase<&checked_copy>()},
                                     {"__tsan_memmove", erase<&checked_copy>()},
                                     {"__tsan_memset", erase<&checked_fill>()},
                                     {"__sanitizer_cov_trace_pc", erase<&on_basic_block>()}});
}

void add_metal_runtime(std::vector<RuntimeFunction>& functions) {
  functions.insert(functions.end(), {{"enceladus_simd", erase<&simd>()},
                                     {"enceladus_multiply", erase<&multiply>()},
                                     {"enceladus_barrier", erase<&barrier>()},
                                     {"enceladus_enter_scope", erase<&enter_scope>()},
                                     {"enceladus_owned_place", erase<&owned_place>()},
                                     {"enceladus_atomic", erase<&atomic>()},
                                     {"enceladus_log", erase<&log_line>()},
                                     {"enceladus_exchanged", erase<&exchanged>()},
                                     {"enceladus_lane", erase<&lane>()},
                                     {"enceladus_fragment_place", erase<&place_of_element>()},
                                     {"enceladus_exp10", erase<&exp10_float>()},
                                     {"enceladus_sinpi", erase<&sinpi_float>()},
                                     {"enceladus_cospi", erase<&cospi_float>()},
                                     {"__truncsfbf2", erase<&narrow_to_bfloat>()}});
}

void add_libraries(std::vector<RuntimeFunction>& functions) {
  auto unary = [&](std::string_view name, UnaryFloat function) {
    functions.push_back({name, reinterpret_cast<void*>(function)});
  };
  auto binary = [&](std::string_view name, BinaryFloat function) {
    functions.push_back({name, reinterpret_cast<void*>(function)});
  };
  unary("acosf", ::acosf), unary("acoshf", ::acoshf), unary("asinf", ::asinf);
  unary("asinhf", ::asinhf), unary("atanf", ::atanf), unary("atanhf", ::atanhf);
  unary("ceilf", ::ceilf), unary("cosf", ::cosf), unary("coshf", ::coshf);
  unary("expf", ::expf), unary("exp2f", ::exp2f), unary("floorf", ::floorf);
  unary("logf", ::logf), unary("log10f", ::log10f), unary("log2f", ::log2f);
  unary("nearbyintf", ::nearbyintf), unary("rintf", ::rintf), unary("roundf", ::roundf);
  unary("sinf", ::sinf), unary("sinhf", ::sinhf), unary("sqrtf", ::sqrtf);
  unary("tanf", ::tanf), unary("tanhf", ::tanhf), unary("truncf", ::truncf);
  binary("atan2f", ::atan2f), binary("fdimf", ::fdimf), binary("fmaxf", ::fmaxf);
  binary("fminf", ::fminf), binary("fmodf", ::fmodf), binary("nextafterf", ::nextafterf);
  binary("powf", ::powf);
  float (*fma_function)(float, float, float) = ::fmaf;
  float (*ldexp_function)(float, int) = ::ldexpf;
  float (*frexp_function)(float, int*) = ::frexpf;
  void* (*copy)(void*, const void*, size_t) = std::memcpy;
  void* (*move)(void*, const void*, size_t) = std::memmove;
  void* (*fill)(void*, int, size_t) = std::memset;
  functions.insert(functions.end(), {{"fmaf", reinterpret_cast<void*>(fma_function)},
                                     {"ldexpf", reinterpret_cast<void*>(ldexp_function)},
                                     {"frexpf", reinterpret_cast<void*>(frexp_function)},
                                     {"memcpy", reinterpret_cast<void*>(copy)},
                                     {"memmove", reinterpret_cast<void*>(move)},
                                     {"memset", reinterpret_cast<void*>(fill)}});
}

struct Tables {
  std::vector<std::string_view> names;
  std::vector<void*> addresses;

  Tables() {
    std::vector<RuntimeFunction> functions;
    add_instrumentation(functions);
    add_metal_runtime(functions);
    add_libraries(functions);
    for (const RuntimeFunction& function : functions) {
      names.push_back(function.name);
      addresses.push_back(function.address);
    }
  }
};

const Tables& tables() {
  static const Tables kTables;
  return kTables;
}

}  // namespace

std::span<const std::string_view> runtime_function_names() { return tables().names; }
std::span<void* const> runtime_function_addresses() { return tables().addresses; }

}  // namespace enceladus::simulator
