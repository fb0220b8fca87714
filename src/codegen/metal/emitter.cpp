#include "codegen/metal/emitter.h"

namespace enceladus::metal {

using ir::Opcode;

void Emitter::target_operation(const ir::Operation& op) {
  switch (op.opcode()) {
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
    case Opcode::kSharedAtomic:
      return shared_atomic(op);
    case Opcode::kBarrier:
      return barrier(op);
    case Opcode::kMma:
      return mma(op);
    case Opcode::kCooperative:
      return cooperative(op);
    case Opcode::kCooperativeMultiply:
      return cooperative_multiply(op);
    case Opcode::kCooperativePart:
      return cooperative_part(op);
    case Opcode::kPrint:
      return print(op);
    case Opcode::kDeviceAssert:
      return assertion(op);
    case Opcode::kAtomicRmw:
    case Opcode::kAtomicCas:
      return atomic(op);
    default:
      refuse(op);
  }
}

}  // namespace enceladus::metal
