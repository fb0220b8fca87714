// Atomics: relaxed themselves, between the fences that their semantics ask for.
#include "codegen/cuda/emitter.h"

namespace enceladus::cuda {

using ir::AttributeName;
using ir::Operation;
using ir::Value;

namespace {

std::string fence_of(const Operation& op) {
  std::string_view scope = op.text(AttributeName::kScope);
  if (scope == "cta") return "__threadfence_block(); ";
  return scope == "sys" ? "__threadfence_system(); " : "__threadfence(); ";
}

}  // namespace

void Emitter::atomic(const Operation& op) {
  const Value* result = op.result();
  DType dtype = result->type().dtype();
  bool swaps = op.is(ir::Opcode::kAtomicCas);
  std::string function =
      swaps ? prelude_.compare_and_swap(dtype)
            : prelude_.atomic(op.enumerator<ir::AtomicKind>(AttributeName::kAtomic), dtype);
  const Value* mask = op.operand(swaps ? 3 : 2);
  std::string_view semantics = op.text(AttributeName::kSemantics);
  bool releases = semantics == "release" || semantics == "acq_rel";
  bool is_used = result->has_users();
  bool acquires = is_used && (semantics == "acquire" || semantics == "acq_rel");
  if (is_used) declare(result);
  // What other threads of the program wrote is released, too.
  if (releases) barrier(op);
  int64_t registers = registers_of(result);
  Index r = open_registers(registers);
  std::string call = function + "(" + use(op.operand(0), r) + ", " + use(op.operand(1), r) +
                     (swaps ? ", " + use(op.operand(2), r) : "") + ");";
  if (is_used && mask) out_.line(use(result, r) + " = " + dialect_.literal(dtype, 0) + ";");
  std::string target = is_used ? use(result, r) + " = " : "";
  std::string statement =
      (releases ? fence_of(op) : "") + target + call + (acquires ? " " + fence_of(op) : "");
  if (acquires) statement.pop_back();
  bool is_block = releases || acquires;
  if (mask)
    statement = "if (" + use(mask, r) + ") " + (is_block ? "{ " + statement + " }" : statement);
  out_.line(statement);
  close_registers(registers);
}

}  // namespace enceladus::cuda
