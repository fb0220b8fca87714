#include "codegen/cpu/gemm_shuffle.h"

#include <llvm/IR/DerivedTypes.h>

#include <array>

#include "support/check.h"

namespace enceladus::cpu {
namespace {

using Mask = llvm::SmallVector<int, 32>;

// Swaps the off-diagonal squares of `size` lanes between rows `size` apart.
void swap_squares(llvm::IRBuilderBase& builder, Values& rows, int size) {
  const int lanes = static_cast<int>(rows.size());
  Mask upper, lower;
  for (int lane = 0; lane < lanes; ++lane) {
    upper.push_back(lane & size ? lanes + lane - size : lane);
    lower.push_back(lane & size ? lanes + lane : lane + size);
  }
  for (int row = 0; row < lanes; ++row) {
    if (row & size) continue;
    llvm::Value* a = rows[row];
    llvm::Value* b = rows[row + size];
    rows[row] = builder.CreateShuffleVector(a, b, upper);
    rows[row + size] = builder.CreateShuffleVector(a, b, lower);
  }
}

// Transposes each 4 x 4 square in place: two unpacks of lanes, then two of lane pairs, each within
// 16 bytes, where x86 shuffles cheaply.
void transpose_quads(llvm::IRBuilderBase& builder, Values& rows) {
  const int lanes = static_cast<int>(rows.size());
  auto within_quads = [&](llvm::Value* a, llvm::Value* b, std::array<int, 4> from) {
    Mask mask;
    for (int quad = 0; quad < lanes; quad += 4)
      for (int index : from) mask.push_back(index < 4 ? quad + index : lanes + quad + index - 4);
    return builder.CreateShuffleVector(a, b, mask);
  };
  for (int row = 0; row < lanes; row += 4) {
    llvm::Value* low01 = within_quads(rows[row], rows[row + 1], {0, 4, 1, 5});
    llvm::Value* high01 = within_quads(rows[row], rows[row + 1], {2, 6, 3, 7});
    llvm::Value* low23 = within_quads(rows[row + 2], rows[row + 3], {0, 4, 1, 5});
    llvm::Value* high23 = within_quads(rows[row + 2], rows[row + 3], {2, 6, 3, 7});
    rows[row] = within_quads(low01, low23, {0, 1, 4, 5});
    rows[row + 1] = within_quads(low01, low23, {2, 3, 6, 7});
    rows[row + 2] = within_quads(high01, high23, {0, 1, 4, 5});
    rows[row + 3] = within_quads(high01, high23, {2, 3, 6, 7});
  }
}

llvm::Value* zip(llvm::IRBuilderBase& builder, llvm::Value* a, llvm::Value* b) {
  const int count =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements());
  Mask mask;
  for (int i = 0; i < count; ++i) mask.append({i, count + i});
  return builder.CreateShuffleVector(a, b, mask);
}

}  // namespace

Values emit_transpose(llvm::IRBuilderBase& builder, llvm::ArrayRef<llvm::Value*> rows) {
  Values result(rows.begin(), rows.end());
  const int lanes = static_cast<int>(rows.size());
  int size = 1;
  if (rows[0]->getType()->getScalarSizeInBits() == 32 && lanes >= 4) {
    transpose_quads(builder, result);
    size = 4;
  }
  for (; size < lanes; size *= 2) swap_squares(builder, result, size);
  return result;
}

llvm::Value* emit_interleave(llvm::IRBuilderBase& builder, llvm::ArrayRef<llvm::Value*> parts) {
  if (parts.size() == 1) return parts[0];
  if (parts.size() == 2) return zip(builder, parts[0], parts[1]);
  ENC_CHECK(parts.size() == 4);
  return zip(builder, zip(builder, parts[0], parts[2]), zip(builder, parts[1], parts[3]));
}

}  // namespace enceladus::cpu
