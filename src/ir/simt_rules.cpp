#include "ir/simt_rules.h"

#include <algorithm>

#include "ir/async_rules.h"
#include "ir/type_rules.h"

namespace enceladus::ir {
namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kLaneBits = 5;

bool is_array(const Type& type) { return type.is_tile() && type.rank() == 1; }

std::string check_linear(const Operation& op) {
  size_t bits = op.integers(AttributeName::kRegisterBases).size();
  if (op.integers(AttributeName::kLaneBases).size() > kLaneBits) return "a lane has 5 bits";
  Type expected = Type::number(DType::kInt32);
  int64_t registers = int64_t{1} << bits;
  if (bits > 0) expected = expected.with_shape(std::span(&registers, 1));
  return unless(op.result()->type() == expected, "the result is an i32 for each register");
}

std::string check_registers(const Operation& op) {
  const Type& from = op.operand(0)->type();
  const Type& to = op.result()->type();
  std::span<const int64_t> map = op.integers(AttributeName::kRegisterMap);
  if (!is_array(from) || !is_array(to) || from.element() != to.element())
    return "both are arrays of one element type";
  if (static_cast<int64_t>(map.size()) != to.elements()) return "one entry a result register";
  bool inside = std::ranges::all_of(map, [&](int64_t r) { return r >= 0 && r < from.elements(); });
  return unless(inside, "a register that the operand has not");
}

std::string check_element(const Operation& op) {
  const Type& from = op.operand(0)->type();
  int64_t index = op.integer(AttributeName::kIndex);
  if (index < 0 || index >= from.elements()) return "the index is out of range";
  return unless(op.result()->type() == from.element(), "the result is an element");
}

std::string check_pack(const Operation& op) {
  const Type& to = op.result()->type();
  int64_t elements = 0;
  for (const Value* part : op.operands()) {
    if (part->type().element() != to.element()) return "the parts' types differ";
    elements += part->type().elements();
  }
  return unless(is_array(to) && to.elements() == elements, "the result has all parts");
}

std::string check_warp_reduce(const Operation& op) {
  DType dtype = op.operand(0)->type().dtype();
  bool known = dtype == DType::kFloat32 || dtype == DType::kInt32 || dtype == DType::kUInt32;
  if (!known) return "only float32, int32 and uint32";
  CombineKind kind = op.enumerator<CombineKind>(AttributeName::kCombine);
  return unless(kind == CombineKind::kAdd || kind == CombineKind::kMax || kind == CombineKind::kMin,
                "only add, max and min");
}

std::string check_shuffle(const Operation& op) {
  if (op.operand(0)->type().is_bool()) return "a bool cannot be shuffled: widen it";
  if (op.is(Opcode::kShuffleXor)) {
    int64_t mask = op.integer(AttributeName::kMask);
    return unless(mask > 0 && mask < kLanes, "the mask is not one of lanes");
  }
  int64_t lane = op.integer(AttributeName::kLane);
  return unless(lane >= 0 && lane < kLanes, "the lane is out of range");
}

std::string check_shared(const Operation& op) {
  const Type& offsets = op.operand(1)->type();
  const Type& data = op.is(Opcode::kSharedLoad) ? op.result()->type() : op.operand(2)->type();
  if (!op.operand(0)->definition() || !op.operand(0)->definition()->is(Opcode::kSharedBuffer))
    return "the buffer is a parameter or a computed number, no shared_buffer";
  if (!data.is_number() || data.elements() != offsets.elements()) return "an offset an element";
  int64_t vector = op.integer_or(AttributeName::kVector, 1);
  return unless(vector >= 1 && data.elements() % vector == 0, "the vector does not fit");
}

std::string check_matrix_load(const Operation& op) {
  const Type& data = op.result()->type();
  int64_t matrices = op.integer(AttributeName::kMatrices);
  if (matrices != 1 && matrices != 2 && matrices != 4) return "1, 2 or 4 matrices";
  int64_t bytes = data.elements() * byte_size(data.dtype());
  bool fits = bytes == 4 * matrices * op.operand(1)->type().elements();
  if (!data.is_number() || !fits) return "the result has a word of each matrix";
  bool transposes = op.integer(AttributeName::kTransposed) != 0;
  return unless(!transposes || byte_size(data.dtype()) == 2, "only 16-bit elements turn");
}

std::string check_mma(const Operation& op) {
  std::span<const int64_t> fragments = op.integers(AttributeName::kFragments);
  std::span<const int64_t> registers = op.integers(AttributeName::kFragmentRegisters);
  if (fragments.size() != 4 || registers.size() != 3)
    return "four counts of fragments, three of registers";
  auto has = [&](int operand, size_t i, size_t j) {
    int64_t held = op.operand(operand)->type().elements();
    int64_t all =
        registers[static_cast<size_t>(operand)] * fragments[0] * fragments[i] * fragments[j];
    bool one_depth = operand < 2 && op.operand(3) != nullptr;
    return held == all || (one_depth && held * fragments[3] == all);
  };
  if (!has(0, 1, 3) || !has(1, 3, 2) || !has(2, 1, 2))
    return "the arrays have not the fragments' registers";
  return unless(op.result()->type() == op.operand(2)->type(), "the result is no accumulator");
}

}  // namespace

std::string check_simt(const Operation& op) {
  switch (op.opcode()) {
    case Opcode::kLinear:
      return check_linear(op);
    case Opcode::kOwner:
      return unless(op.result()->type() == Type::number(DType::kInt1), "the result is an i1");
    case Opcode::kRegisters:
      return check_registers(op);
    case Opcode::kElement:
      return check_element(op);
    case Opcode::kPack:
      return check_pack(op);
    case Opcode::kShuffle:
    case Opcode::kShuffleXor:
      return check_shuffle(op);
    case Opcode::kWarpReduce:
      return check_warp_reduce(op);
    case Opcode::kSharedBuffer:
      return unless(op.result()->type() == Type::number(DType::kInt32), "the result is an i32");
    case Opcode::kSharedLoad:
    case Opcode::kSharedStore:
    case Opcode::kSharedAtomic:
      return check_shared(op);
    case Opcode::kMatrixLoad:
      return check_matrix_load(op);
    case Opcode::kMma:
      return check_mma(op);
    default:
      return check_async(op);
  }
}

}  // namespace enceladus::ir
