// Moves between the lanes of a warp. The device shuffles 32 and 64 bits; narrower values travel as
// their bits.
#include "codegen/cuda/emitter.h"

namespace enceladus::cuda {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

std::string Emitter::shuffled(const Operation& op, const std::string& value) const {
  if (op.is(Opcode::kWarpReduce)) {
    switch (op.enumerator<ir::CombineKind>(AttributeName::kCombine)) {
      case ir::CombineKind::kAdd:
        return "__reduce_add_sync(~0u, " + value + ")";
      case ir::CombineKind::kMax:
        return "__reduce_max_sync(~0u, " + value + ")";
      default:
        return "__reduce_min_sync(~0u, " + value + ")";
    }
  }
  if (op.is(Opcode::kShuffleXor))
    return "__shfl_xor_sync(~0u, " + value + ", " +
           std::to_string(op.integer(AttributeName::kMask)) + ")";
  return "__shfl_sync(~0u, " + value + ", " + codegen::source_lane(op) + ")";
}

void Emitter::shuffle(const Operation& op) {
  const Value* result = op.result();
  DType dtype = result->type().dtype();
  declare(result);
  Index r = open_registers(registers_of(result));
  std::string value = use(op.operand(0), r), type(dialect_.type_name(dtype));
  std::string moved;
  if (codegen::is_narrow_float(dtype))
    moved = "as_type<" + type + ">(ushort(" + shuffled(op, "uint(as_type<ushort>(" + value + "))") +
            "))";
  else if (byte_size(dtype) < 4)
    moved = type + "(" + shuffled(op, "int(" + value + ")") + ")";
  else
    moved = shuffled(op, value);
  out_.line(use(result, r) + " = " + moved + ";");
  close_registers(registers_of(result));
}

}  // namespace enceladus::cuda
