#include "codegen/cuda/emitter.h"

namespace enceladus::cuda {

using ir::Opcode;

// One instruction rounds two neighbours to a word of two narrow floats.
bool Emitter::is_target_operation(const ir::Operation& op) const {
  if (!op.is(Opcode::kCast)) return false;
  bool nearest = op.integer_or(ir::AttributeName::kRounding, 0) == 0;
  return nearest && op.operand(0)->type().dtype() == DType::kFloat32 &&
         codegen::is_narrow_float(op.result()->type().dtype()) && registers_of(op.result()) > 1;
}

void Emitter::narrow_pairs(const ir::Operation& op) {
  const ir::Value* result = op.result();
  bool is_half = result->type().dtype() == DType::kFloat16;
  std::string function = prelude_.use(is_half ? "half_pair" : "bfloat_pair");
  declare(result);
  Index r = open_registers(registers_of(result), 2);
  out_.line(function + "(&" + use(result, r) + ", " + use(op.operand(0), r) + ", " +
            use(op.operand(0), r.plus(1)) + ");");
  close_registers(registers_of(result), 2);
}

void Emitter::target_operation(const ir::Operation& op) {
  switch (op.opcode()) {
    case Opcode::kCast:
      return narrow_pairs(op);
    case Opcode::kLoad:
      return load(op);
    case Opcode::kStore:
      return store(op);
    case Opcode::kShuffle:
    case Opcode::kShuffleXor:
    case Opcode::kWarpReduce:
      return shuffle(op);
    case Opcode::kSharedBuffer:
      return shared_buffer(op);
    case Opcode::kSharedLoad:
      return shared_load(op);
    case Opcode::kSharedStore:
      return shared_store(op);
    case Opcode::kMatrixLoad:
      return matrix_load(op);
    case Opcode::kCopyAsync:
      return copy_async(op);
    case Opcode::kStageCommit:
      return out_.line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
    case Opcode::kStageWait:
      return out_.line("asm volatile(\"cp.async.wait_group " +
                       std::to_string(op.integer(ir::AttributeName::kPending)) +
                       ";\" ::: \"memory\");");
    case Opcode::kBarrier:
      return barrier(op);
    case Opcode::kMma:
      return mma(op);
    case Opcode::kPrint:
      return print(op);
    case Opcode::kDeviceAssert:
      return assertion(op);
    case Opcode::kAtomicRmw:
    case Opcode::kAtomicCas:
      return atomic(op);
    default:
      if (!async_operation(op)) refuse(op);
  }
}

}  // namespace enceladus::cuda
