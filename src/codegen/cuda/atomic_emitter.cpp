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
  bool is_guarded = mask && registers > 1 && !is_used && !releases;
  if (is_guarded) open_where_any(mask);
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
  if (is_guarded) out_.close();
}

// Each masked atomic is a branch; one goes around those of a thread that has none to do.
void Emitter::open_where_any(const Value* mask) {
  std::string any = names_.unique("any");
  out_.line("bool " + any + " = false;");
  Index r = open_registers(registers_of(mask));
  out_.line(any + " |= " + use(mask, r) + ";");
  close_registers(registers_of(mask));
  out_.open("if (" + any + ")");
}

void Emitter::shared_atomic(const Operation& op) {
  const Value* value = op.operand(2);
  const Value* mask = op.operand(3);
  std::string function =
      prelude_.atomic(op.enumerator<ir::AtomicKind>(AttributeName::kAtomic), value->type().dtype());
  Index r = open_registers(registers_of(value));
  out_.line((mask ? "if (" + use(mask, r) + ") " : "") + function + "(" + use(op.operand(0)) +
            " + " + use(op.operand(1), r) + ", " + use(value, r) + ");");
  close_registers(registers_of(value));
}

}  // namespace enceladus::cuda
