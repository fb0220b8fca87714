#include "amx_emulation.h"

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace enceladus::cpu {
namespace {

struct Tile {
  int rows = 0;
  int row_bytes = 0;
  alignas(64) uint8_t data[16][64] = {};
};

struct Tiles {
  AmxState state;
  Tile tile[8];
};

thread_local Tiles tiles;

Tile& existing(uint64_t number) {
  EXPECT_TRUE(tiles.state.is_set_up) << "a tile is used before ldtilecfg";
  EXPECT_LT(number, 8u);
  Tile& tile = tiles.tile[number % 8];
  EXPECT_GT(tile.rows, 0) << "tile " << number << " has no rows";
  return tile;
}

void set_up(const uint8_t* setup) {
  EXPECT_EQ(setup[0], 1) << "palette";
  for (int i = 1; i < 16; ++i) EXPECT_EQ(setup[i], 0) << "reserved byte " << i;
  for (int i = 0; i < 8; ++i) {
    uint16_t row_bytes;
    std::memcpy(&row_bytes, setup + 16 + 2 * i, 2);
    const int rows = setup[48 + i];
    EXPECT_LE(row_bytes, 64);
    EXPECT_LE(rows, 16);
    EXPECT_EQ(rows == 0, row_bytes == 0) << "tile " << i;
    tiles.tile[i] = {.rows = rows, .row_bytes = row_bytes};
  }
  tiles.state.is_set_up = true;
  ++tiles.state.setups;
}

void release() { tiles.state.is_set_up = false; }

void clear(uint64_t number) { std::memset(existing(number).data, 0, sizeof(Tile::data)); }

void load(uint64_t number, const uint8_t* from, int64_t stride) {
  Tile& tile = existing(number);
  std::memset(tile.data, 0, sizeof(tile.data));
  for (int row = 0; row < tile.rows; ++row)
    std::memcpy(tile.data[row], from + row * stride, static_cast<size_t>(tile.row_bytes));
}

void store(uint64_t number, uint8_t* to, int64_t stride) {
  const Tile& tile = existing(number);
  for (int row = 0; row < tile.rows; ++row)
    std::memcpy(to + row * stride, tile.data[row], static_cast<size_t>(tile.row_bytes));
}

float without_subnormals(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

float bfloat16_at(const uint8_t* row, int index) {
  uint16_t bits;
  std::memcpy(&bits, row + 2 * index, 2);
  return without_subnormals(std::bit_cast<float>(uint32_t{bits} << 16));
}

struct Factors {
  Tile& sum;
  const Tile &a, &b;
};

Factors factors_of(uint64_t sum, uint64_t a, uint64_t b) {
  ++tiles.state.products;
  const Factors factors{existing(sum), existing(a), existing(b)};
  EXPECT_EQ(factors.sum.rows, factors.a.rows);
  EXPECT_EQ(factors.sum.row_bytes, factors.b.row_bytes);
  EXPECT_EQ(factors.a.row_bytes, 4 * factors.b.rows);
  EXPECT_TRUE(sum != a && sum != b && a != b) << "the three tiles must differ";
  return factors;
}

void multiply_bfloat16(uint64_t sum, uint64_t a, uint64_t b) {
  const Factors factors = factors_of(sum, a, b);
  for (int m = 0; m < factors.sum.rows; ++m)
    for (int n = 0; n < factors.sum.row_bytes / 4; ++n) {
      float partial[2] = {};
      for (int k = 0; k < factors.b.rows; ++k)
        for (int part = 0; part < 2; ++part)
          partial[part] = without_subnormals(std::fma(bfloat16_at(factors.a.data[m], 2 * k + part),
                                                      bfloat16_at(factors.b.data[k], 2 * n + part),
                                                      partial[part]));
      float total;
      std::memcpy(&total, factors.sum.data[m] + 4 * n, 4);
      total = without_subnormals(without_subnormals(total) +
                                 without_subnormals(partial[0] + partial[1]));
      std::memcpy(factors.sum.data[m] + 4 * n, &total, 4);
    }
}

template <typename A, typename B>
void multiply_bytes(uint64_t sum, uint64_t a, uint64_t b) {
  const Factors factors = factors_of(sum, a, b);
  for (int m = 0; m < factors.sum.rows; ++m)
    for (int n = 0; n < factors.sum.row_bytes / 4; ++n) {
      uint32_t total;
      std::memcpy(&total, factors.sum.data[m] + 4 * n, 4);
      for (int k = 0; k < factors.b.rows; ++k)
        for (int part = 0; part < 4; ++part)
          total += static_cast<uint32_t>(static_cast<A>(factors.a.data[m][4 * k + part]) *
                                         static_cast<B>(factors.b.data[k][4 * n + part]));
      std::memcpy(factors.sum.data[m] + 4 * n, &total, 4);
    }
}

// What stands in for an instruction; null for every other one.
void* stand_in(llvm::Intrinsic::ID id) {
  using namespace llvm;
  auto address = [](auto* function) { return reinterpret_cast<void*>(function); };
  switch (id) {
    case Intrinsic::x86_ldtilecfg:
      return address(&set_up);
    case Intrinsic::x86_tilerelease:
      return address(&release);
    case Intrinsic::x86_tilezero:
      return address(&clear);
    case Intrinsic::x86_tileloadd64:
      return address(&load);
    case Intrinsic::x86_tilestored64:
      return address(&store);
    case Intrinsic::x86_tdpbf16ps:
      return address(&multiply_bfloat16);
    case Intrinsic::x86_tdpbssd:
      return address(&multiply_bytes<int8_t, int8_t>);
    case Intrinsic::x86_tdpbsud:
      return address(&multiply_bytes<int8_t, uint8_t>);
    case Intrinsic::x86_tdpbusd:
      return address(&multiply_bytes<uint8_t, int8_t>);
    case Intrinsic::x86_tdpbuud:
      return address(&multiply_bytes<uint8_t, uint8_t>);
    default:
      return nullptr;
  }
}

void replace(llvm::IntrinsicInst& call, void* function) {
  llvm::IRBuilder<> builder(&call);
  llvm::SmallVector<llvm::Value*, 3> arguments;
  llvm::SmallVector<llvm::Type*, 3> types;
  for (llvm::Value* argument : call.args()) {
    if (argument->getType()->isIntegerTy())
      argument = builder.CreateZExt(argument, builder.getInt64Ty());
    arguments.push_back(argument);
    types.push_back(argument->getType());
  }
  llvm::Value* address = builder.CreateIntToPtr(
      builder.getInt64(reinterpret_cast<uintptr_t>(function)), builder.getPtrTy());
  builder.CreateCall(llvm::FunctionType::get(builder.getVoidTy(), types, /*isVarArg=*/false),
                     address, arguments);
  call.eraseFromParent();
}

}  // namespace

const HostTarget& emulated_amx_target() {
  static const HostTarget target = [] {
    HostTarget host = host_target();
    host.vector_bytes = 64;
    host.has_amx_bfloat16 = host.has_amx_int8 = true;
    return host;
  }();
  return target;
}

void emulate_amx(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(block))
        if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
          if (void* found = stand_in(call->getIntrinsicID())) replace(*call, found);
}

AmxState amx_state() { return tiles.state; }

}  // namespace enceladus::cpu
