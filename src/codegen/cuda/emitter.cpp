#include "codegen/cuda/emitter.h"

namespace enceladus::cuda {

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
    case Opcode::kBarrier:
      return barrier(op);
    case Opcode::kMma:
      return mma(op);
    case Opcode::kAtomicRmw:
    case Opcode::kAtomicCas:
      return atomic(op);
    default:
      if (!async_operation(op)) refuse(op);
  }
}

}  // namespace enceladus::cuda
