// Moves between the lanes of a warp.
#include "codegen/common/bit_expressions.h"
#include "codegen/common/emitter.h"

namespace enceladus::codegen {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

namespace {

// The lane that a `shuffle` reads, as an expression.
std::string source_lane(const Operation& op) {
  std::string lane = bit_map("lane", op.integers(AttributeName::kLaneBases));
  int64_t constant = op.integer(AttributeName::kLane);
  if (lane.empty()) return std::to_string(constant);
  return constant ? "(" + lane + " ^ " + std::to_string(constant) + ")" : lane;
}

}  // namespace

std::string Emitter::between_lanes(const Operation& op, const std::string& word) const {
  if (op.is(Opcode::kWarpReduce))
    return dialect_.warp_reduction(op.enumerator<ir::CombineKind>(AttributeName::kCombine), word);
  if (op.is(Opcode::kShuffleXor))
    return dialect_.shuffle_xor(word, op.integer(AttributeName::kMask));
  return dialect_.shuffle(word, source_lane(op));
}

void Emitter::shuffle(const Operation& op) {
  const Value* result = op.result();
  declare(result);
  Index r = open_registers(registers_of(result));
  out_.line(use(result, r) + " = " + moved(op, use(op.operand(0), r)) + ";");
  close_registers(registers_of(result));
}

}  // namespace enceladus::codegen
