// Moves between the lanes of a warp. SIMD functions know neither 64-bit
// integers nor bfloat: these travel as two halves or as their bits.
#include "codegen/metal/emitter.h"
#include "support/check.h"

namespace enceladus::metal {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

std::string Emitter::shuffled(const Operation& op, const std::string& value) const {
  if (op.is(Opcode::kWarpReduce)) {
    switch (op.enumerator<ir::CombineKind>(AttributeName::kCombine)) {
      case ir::CombineKind::kAdd:
        return "simd_sum(" + value + ")";
      case ir::CombineKind::kMax:
        return "simd_max(" + value + ")";
      default:
        return "simd_min(" + value + ")";
    }
  }
  if (op.is(Opcode::kShuffleXor))
    return "simd_shuffle_xor(" + value + ", " + std::to_string(op.integer(AttributeName::kMask)) +
           ")";
  return "simd_shuffle(" + value + ", ushort(" + codegen::source_lane(op) + "))";
}

void Emitter::shuffle(const Operation& op) {
  const Value* result = op.result();
  DType dtype = result->type().dtype();
  declare(result);
  Index r = open_registers(registers_of(result));
  std::string value = use(op.operand(0), r), type(dialect_.type_name(dtype));
  std::string moved;
  if (byte_size(dtype) == 8) {
    std::string halves = names_.unique("halves");
    out_.line("const uint2 " + halves + " = as_type<uint2>(" + value + ");");
    moved = "as_type<" + type + ">(uint2(" + shuffled(op, halves + ".x") + ", " +
            shuffled(op, halves + ".y") + "))";
  } else if (dtype == DType::kBFloat16) {
    moved = "as_type<bfloat>(" + shuffled(op, "as_type<ushort>(" + value + ")") + ")";
  } else {
    moved = shuffled(op, value);
  }
  out_.line(use(result, r) + " = " + moved + ";");
  close_registers(registers_of(result));
}

}  // namespace enceladus::metal
