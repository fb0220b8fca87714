#include "tile_case.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <random>
#include <tuple>

#include "amx_emulation.h"
#include "ir/builder.h"

namespace enceladus::cpu {
namespace {

// Element (i) of an array of `dtype`, as a double (exact for every operand type).
double read(DType dtype, const char* data, int64_t i) {
  auto as = [&]<class T>(T value) {
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
  };
  switch (dtype) {
    case DType::kFloat64:
      return as(double{});
    case DType::kFloat32:
      return as(float{});
    case DType::kFloat16:
      return static_cast<double>(as(_Float16{}));
    case DType::kBFloat16: {
      const uint32_t bits = uint32_t{as(uint16_t{})} << 16;
      float value;
      std::memcpy(&value, &bits, 4);
      return value;
    }
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
      return ir::double_of_bits(dtype, as(uint8_t{}));
    case DType::kInt8:
      return as(int8_t{});
    case DType::kUInt8:
      return as(uint8_t{});
    case DType::kInt16:
      return as(int16_t{});
    case DType::kUInt16:
      return as(uint16_t{});
    case DType::kInt32:
      return as(int32_t{});
    default:
      ADD_FAILURE() << "no such operand";
      return 0;
  }
}

void write(DType dtype, char* data, int64_t i, double value) {
  auto store = [&](auto typed) { std::memcpy(data + i * sizeof(typed), &typed, sizeof(typed)); };
  const auto integer = static_cast<int64_t>(is_integer(dtype) ? value : 0);
  switch (dtype) {
    case DType::kFloat64:
      return store(value);
    case DType::kFloat32:
      return store(static_cast<float>(value));
    case DType::kFloat16:
      return store(static_cast<_Float16>(value));
    case DType::kBFloat16: {
      const auto narrow = static_cast<float>(value);
      uint32_t bits;
      std::memcpy(&bits, &narrow, 4);
      return store(static_cast<uint16_t>(bits >> 16));
    }
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
      return store(static_cast<uint8_t>(ir::bits_of(dtype, value)));
    case DType::kInt8:
      return store(static_cast<int8_t>(integer));
    case DType::kUInt8:
      return store(static_cast<uint8_t>(integer));
    case DType::kInt16:
      return store(static_cast<int16_t>(integer));
    case DType::kUInt16:
      return store(static_cast<uint16_t>(integer));
    case DType::kInt32:
      return store(static_cast<int32_t>(integer));
    default:
      ADD_FAILURE() << "no such operand";
  }
}

double random_value(DType dtype, std::mt19937& random) {
  if (is_float(dtype)) return std::uniform_int_distribution<int>(-64, 64)(random) / 64.0;
  const int bits = 8 * byte_size(dtype);
  const int64_t low = is_signed(dtype) ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t high = low + (int64_t{1} << bits) - 1;
  // Extremes often: they are where signs and wrapping go wrong.
  switch (std::uniform_int_distribution<int>(0, 3)(random)) {
    case 0:
      return static_cast<double>(low);
    case 1:
      return static_cast<double>(high);
    default:
      return static_cast<double>(std::uniform_int_distribution<int64_t>(low, high)(random));
  }
}

}  // namespace

GuardedBytes::GuardedBytes(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  mapped_ = (bytes + page - 1) / page * page + page;
  base_ = static_cast<char*>(
      mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  EXPECT_NE(base_, MAP_FAILED);
  EXPECT_EQ(mprotect(base_ + mapped_ - page, page, PROT_NONE), 0);
  data_ = base_ + mapped_ - page - bytes;
}

GuardedBytes::~GuardedBytes() { munmap(base_, mapped_); }

TileCase::TileCase(const GemmSpec& spec, const Sizes& sizes, const HostTarget& target)
    : spec_(spec),
      sizes_(sizes),
      target_(target),
      a_depth_(sizes.a_depth < 0 ? sizes.depth : sizes.a_depth),
      b_depth_(sizes.b_depth < 0 ? sizes.depth : sizes.b_depth),
      a_(static_cast<size_t>(sizes.rows * a_depth_ * byte_size(spec.a))),
      b_(static_cast<size_t>(sizes.columns * b_depth_ * byte_size(spec.b))),
      c_(static_cast<size_t>(gemm_tile_bytes(target, spec))),
      scratch_(static_cast<size_t>(gemm_scratch_bytes(target, spec)) + 64) {
  std::mt19937 random(7);
  for (int64_t i = 0; i < sizes.rows * a_depth_; ++i)
    write(spec.a, a_.data(), i, random_value(spec.a, random));
  for (int64_t i = 0; i < sizes.columns * b_depth_; ++i)
    write(spec.b, b_.data(), i, random_value(spec.b, random));
  for (int64_t i = 0; i < spec.rows; ++i)
    for (int64_t j = 0; j < spec.columns; ++j)
      write(spec.accumulator, c_.data() + i * row_stride(), j, static_cast<double>(i * 3 - j));
}

double TileCase::a(int64_t i, int64_t k) const {
  return k < a_depth_ ? read(spec_.a, a_.data(), a_index(i, k)) : 0;
}

double TileCase::b(int64_t k, int64_t j) const {
  return k < b_depth_ ? read(spec_.b, b_.data(), b_index(k, j)) : 0;
}

double TileCase::c(int64_t i, int64_t j) const {
  return read(spec_.accumulator, c_.data() + i * row_stride(), j);
}

void TileCase::set_a(int64_t i, int64_t k, double value) {
  write(spec_.a, a_.data(), a_index(i, k), value);
}

void TileCase::set_b(int64_t k, int64_t j, double value) {
  write(spec_.b, b_.data(), b_index(k, j), value);
}

GemmCall TileCase::call() const {
  const int64_t a_bytes = byte_size(spec_.a), b_bytes = byte_size(spec_.b);
  const bool a_rows = spec_.a_order != OperandOrder::kAcross;
  const bool b_rows = spec_.b_order != OperandOrder::kDepth;
  const auto scratch = (reinterpret_cast<uintptr_t>(scratch_.data()) + 63) / 64 * 64;
  return {.a = a_.data(),
          .a_row_stride = a_rows ? a_depth_ * a_bytes : a_bytes,
          .a_depth_stride = a_rows ? a_bytes : sizes_.rows * a_bytes,
          .b = b_.data(),
          .b_depth_stride = b_rows ? sizes_.columns * b_bytes : b_bytes,
          .b_column_stride = b_rows ? b_bytes : b_depth_ * b_bytes,
          .rows = sizes_.rows,
          .columns = sizes_.columns,
          .depth = sizes_.depth,
          .a_depth = a_depth_,
          .b_depth = b_depth_,
          .c = c_.data(),
          .scratch = reinterpret_cast<void*>(scratch),
          .generation = 1};
}

void TileCase::run() const {
  const GemmCall arguments = call();
  compiled_gemm(spec_, target_)(&arguments);
}

void TileCase::check() {
  Matrix wanted(spec_.rows, std::vector<double>(spec_.columns));
  for (int64_t i = 0; i < spec_.rows; ++i)
    for (int64_t j = 0; j < spec_.columns; ++j) wanted[i][j] = expected(i, j);
  run();
  for (int64_t i = 0; i < spec_.rows; ++i)
    for (int64_t j = 0; j < spec_.columns; ++j)
      ASSERT_EQ(c(i, j), wanted[i][j]) << "at " << i << ", " << j << " of " << sizes_.rows << " x "
                                       << sizes_.columns << " x " << sizes_.depth;
}

// Exact: floats are multiples of 1/64 no larger than 1, so that every partial sum is a float32;
// integers wrap.
double TileCase::expected(int64_t i, int64_t j) const {
  double sum = spec_.start == GemmStart::kTile ? c(i, j) : 0;
  auto bits = [](double value) { return static_cast<uint32_t>(static_cast<int64_t>(value)); };
  uint32_t wrapped = bits(sum);
  const bool exists = i < sizes_.rows && j < sizes_.columns;
  for (int64_t k = 0; exists && k < sizes_.depth; ++k) {
    sum += a(i, k) * b(k, j);
    wrapped += bits(a(i, k)) * bits(b(k, j));
  }
  return is_float(spec_.accumulator) ? sum : static_cast<int32_t>(wrapped);
}

int64_t TileCase::row_stride() const { return gemm_row_stride(target_, spec_); }

int64_t TileCase::a_index(int64_t i, int64_t k) const {
  return spec_.a_order == OperandOrder::kAcross ? k * sizes_.rows + i : i * a_depth_ + k;
}

int64_t TileCase::b_index(int64_t k, int64_t j) const {
  return spec_.b_order == OperandOrder::kDepth ? j * b_depth_ + k : k * sizes_.columns + j;
}

const JitFunction& compiled_gemm(const GemmSpec& spec, const HostTarget& target) {
  const bool is_emulated = &target == &emulated_amx_target();
  auto key = [&](const GemmSpec& s) {
    return std::tuple(is_emulated, s.a, s.b, s.accumulator, s.rows, s.columns, s.depth,
                      s.depth_multiple, s.a_order, s.b_order, s.start, s.depth_edge, s.packed_b);
  };
  static std::map<decltype(key(spec)), std::unique_ptr<JitFunction>> compiled;
  std::unique_ptr<JitFunction>& function = compiled[key(spec)];
  if (function != nullptr) return *function;
  function = std::make_unique<JitFunction>([&](llvm::IRBuilder<>& builder, llvm::Value* call) {
    gemm_body(target, spec)(builder, call);
    if (is_emulated) emulate_amx(*builder.GetInsertBlock()->getModule());
  });
  return *function;
}

}  // namespace enceladus::cpu
