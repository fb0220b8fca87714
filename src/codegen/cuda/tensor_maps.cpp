#include "codegen/cuda/tensor_maps.h"

#include <algorithm>

#include "lowering/tile_to_simt/tensor_maps.h"
#include "support/check.h"

namespace enceladus::cuda {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;

constexpr int32_t kPromote128Bytes = 2;

// CUtensorMapDataType.
int32_t element_code(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
      return 0;
    case DType::kUInt32:
      return 2;
    case DType::kInt32:
      return 3;
    case DType::kFloat16:
      return 6;
    case DType::kFloat32:
      return 7;
    case DType::kBFloat16:
      return 9;
    default:
      ENC_CHECK(false, "a tensor map of a type that no product has");
      return 0;
  }
}

// CUtensorMapSwizzle.
int32_t driver_swizzle(int64_t row_bytes) { return row_bytes == 128 ? 3 : row_bytes == 64 ? 2 : 1; }

std::vector<LaunchExpression> expressions(const Operation& op, AttributeName name) {
  std::vector<LaunchExpression> result;
  std::span<const int64_t> numbers = op.integers(name);
  for (size_t at = 0; at < numbers.size();) result.push_back(simt::read_expression(numbers, at));
  return result;
}

}  // namespace

std::vector<const Operation*> tensor_map_operations(const ir::Function& function) {
  std::vector<const Operation*> maps;
  ir::walk(function.body(), [&](const Operation* op) {
    if (op->is(Opcode::kTensorMap)) maps.push_back(op);
  });
  return maps;
}

// What is loaded comes through the L2 cache in pieces of 128 bytes; what is stored needs none.
TensorMap tensor_map_of(const Operation& op) {
  TensorMap map;
  map.address = expressions(op, AttributeName::kAddress).front();
  map.shape = expressions(op, AttributeName::kSizes);
  map.strides = expressions(op, AttributeName::kStrides);
  std::span<const int64_t> box = op.integers(AttributeName::kBox);
  std::ranges::transform(box, std::back_inserter(map.box),
                         [](int64_t extent) { return static_cast<int32_t>(extent); });
  map.element = element_code(op.operand(0)->type().dtype());
  map.swizzle = driver_swizzle(op.integer(AttributeName::kSwizzle));
  bool is_stored = std::ranges::any_of(
      op.result()->users(), [](const Operation* user) { return user->is(Opcode::kCopyOut); });
  map.promotion = is_stored ? 0 : kPromote128Bytes;
  return map;
}

}  // namespace enceladus::cuda
