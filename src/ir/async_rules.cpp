#include "ir/async_rules.h"

#include "ir/type_rules.h"

namespace enceladus::ir {
namespace {

constexpr int64_t kGroupThreads = 128;
constexpr int64_t kMatrixRegisters = 8;  // of a thread in one store of four 8x8 matrices
constexpr size_t kPlaceNumbers = 8;

bool is_ring(const Value* value) {
  return value->definition() && value->definition()->is(Opcode::kRing);
}

bool is_map(const Value* value) {
  return value->definition() && value->definition()->is(Opcode::kTensorMap);
}

std::string check_wgmma(const Operation& op) {
  std::span<const int64_t> shape = op.integers(AttributeName::kShape);
  if (shape.size() != 3 || shape[0] % 64 != 0 || shape[1] % 8 != 0) return "a shape [64i, 8j, k]";
  const Type& a = op.operand(0)->type();
  const Type& result = op.result()->type();
  if (result.elements() * kGroupThreads != shape[0] * shape[1])
    return "the result has not the registers of its shape";
  if (op.operand(2) && op.operand(2)->type() != result) return "the result is no accumulator";
  if (op.integers(AttributeName::kBPlace).size() != kPlaceNumbers) return "b's place is no place";
  if (a.rank() == 0)
    return unless(op.integers(AttributeName::kAPlace).size() == kPlaceNumbers,
                  "a's place is no place");
  return unless(a.elements() * kGroupThreads == shape[0] * shape[2],
                "a has not the registers of its shape");
}

std::string check_store_matrix(const Operation& op) {
  const Type& values = op.operand(2)->type();
  if (byte_size(values.dtype()) != 2) return "the values have not 16 bits";
  return unless(op.operand(1)->type().elements() * kMatrixRegisters == values.elements(),
                "a place for each eight registers");
}

std::string check_store_pairs(const Operation& op) {
  const Type& values = op.operand(2)->type();
  if (byte_size(values.dtype()) != 4) return "the values have not 32 bits";
  return unless(op.operand(1)->type().elements() * 2 == values.elements(), "a place for each pair");
}

std::string check_map(const Operation& op) {
  if (op.result()->type() != Type::number(DType::kInt32)) return "the result is an i32";
  return unless(
      !op.integers(AttributeName::kBox).empty() && op.integers(AttributeName::kBox).size() <= 5,
      "a box has one to five axes");
}

}  // namespace

std::string check_async(const Operation& op) {
  switch (op.opcode()) {
    case Opcode::kRole:
      return unless(op.result()->type() == Type::number(DType::kInt1), "the result is an i1");
    case Opcode::kRing:
      return unless(op.integer(AttributeName::kSlots) > 0, "a ring has slots");
    case Opcode::kRingFill:
    case Opcode::kRingTake:
    case Opcode::kRingFree:
      return unless(is_ring(op.operand(0)), "the ring is a parameter or a computed number");
    case Opcode::kCopyIn:
      return unless(is_map(op.operand(0)) && is_ring(op.operand(1)),
                    "the map or the ring is a parameter or a computed number");
    case Opcode::kCopyOut:
      return unless(is_map(op.operand(0)), "the map is a parameter or a computed number");
    case Opcode::kTensorMap:
      return check_map(op);
    case Opcode::kStoreMatrix:
      return check_store_matrix(op);
    case Opcode::kStorePairs:
      return check_store_pairs(op);
    case Opcode::kWgmma:
      return check_wgmma(op);
    default:
      return {};
  }
}

}  // namespace enceladus::ir
