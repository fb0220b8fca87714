// Matrix fragments and atomics.
#include "codegen/metal/atomics_prelude.h"
#include "codegen/metal/emitter.h"
#include "support/check.h"

namespace enceladus::metal {

using ir::AttributeName;
using ir::Operation;
using ir::Value;

// One loop a dimension of fragments; a fragment is made of its two registers where it is used,
// which costs no instruction.
void Emitter::mma(const Operation& op) {
  std::span<const int64_t> counts = op.integers(AttributeName::kFragments);
  const Value* result = op.result();
  declare(result);
  std::string fragment = prelude_.use(Helper::kFragment);
  // The index of a loop over `count` fragments: 0 where there is one.
  auto open = [&](std::string_view name, int64_t count) -> std::string {
    if (count == 1) return "0";
    std::string index = names_.unique(name);
    out_.directive("#pragma unroll");
    out_.open("for (int " + index + " = 0; " + index + " < " + std::to_string(count) + "; ++" +
              index + ")");
    return index;
  };
  auto place = [](const std::string& batch, const std::string& row, int64_t rows,
                  const std::string& column, int64_t columns) {
    auto scaled = [](const std::string& index, int64_t by) {
      if (index == "0" || by == 1) return index;
      return index + " * " + std::to_string(by);
    };
    std::string text;
    for (const std::string& term :
         {scaled(batch, 2 * rows * columns), scaled(row, 2 * columns), scaled(column, 2)})
      if (term != "0") text += (text.empty() ? "" : " + ") + term;
    return text.empty() ? Index::of(0) : Index{text, std::nullopt};
  };
  auto pair = [&](const Value* value, const Index& at) {
    return fragment + "(" + use(value, at) + ", " + use(value, at.plus(1)) + ")";
  };
  std::string batch = open("batch", counts[0]), row = open("row", counts[1]);
  std::string column = open("column", counts[2]);
  std::string sum = names_.unique("sum");
  Index at = place(batch, row, counts[1], column, counts[2]);
  out_.line("simdgroup_matrix<float, 8, 8> " + sum + " = " + pair(op.operand(2), at) + ";");
  // With one depth, an operand that holds that alone is indexed as if it were the first.
  const Value* only = op.operand(3);
  std::string depth = only ? use(only) : open("depth", counts[3]);
  auto factor = [&](const Value* value, bool is_left) {
    bool holds_one = only && registers_of(value) * counts[3] ==
                                 2 * counts[0] * counts[is_left ? 1 : 2] * counts[3];
    int64_t depths = holds_one ? 1 : counts[3];
    std::string at_depth = holds_one ? "0" : depth;
    return pair(value, is_left ? place(batch, row, counts[1], at_depth, depths)
                               : place(batch, at_depth, depths, column, counts[2]));
  };
  out_.line("simdgroup_multiply_accumulate(" + sum + ", " + factor(op.operand(0), true) + ", " +
            factor(op.operand(1), false) + ", " + sum + ");");
  if (!only && counts[3] > 1) out_.close();
  for (int64_t i = 0; i < 2; ++i)
    out_.line(use(result, at.plus(i)) + " = " + sum + ".thread_elements()[" + std::to_string(i) +
              "];");
  for (int i = 0; i < 3; ++i)
    if (counts[static_cast<size_t>(i)] > 1) out_.close();
}

void Emitter::atomic(const Operation& op) {
  const Value* result = op.result();
  DType dtype = result->type().dtype();
  bool swaps = op.is(ir::Opcode::kAtomicCas);
  std::string function;
  if (swaps)
    function = prelude_.compare_and_swap(dtype);
  else
    function = prelude_.atomic(op.enumerator<ir::AtomicKind>(AttributeName::kAtomic), dtype);
  const Value* mask = op.operand(swaps ? 3 : 2);
  bool is_used = result->has_users();
  if (is_used) declare(result);
  int64_t registers = registers_of(result);
  Index r = open_registers(registers);
  std::string call = function + "(" + use(op.operand(0), r) + ", " + use(op.operand(1), r) +
                     (swaps ? ", " + use(op.operand(2), r) : "") + ")";
  if (is_used)
    out_.line(use(result, r) + " = " +
              (mask ? use(mask, r) + " ? " + call + " : " + dialect_.literal(dtype, 0) : call) +
              ";");
  else
    out_.line((mask ? "if (" + use(mask, r) + ") " : "") + call + ";");
  close_registers(registers);
}

void Emitter::shared_atomic(const Operation& op) {
  const Value* value = op.operand(2);
  const Value* mask = op.operand(3);
  std::string type = "threadgroup atomic_" + std::string(dialect_.type_name(value->type().dtype()));
  std::string function = fetch_name(op.enumerator<ir::AtomicKind>(AttributeName::kAtomic));
  Index r = open_registers(registers_of(value));
  out_.line((mask ? "if (" + use(mask, r) + ") " : "") + function + "((" + type + "*)(" +
            use(op.operand(0)) + " + " + use(op.operand(1), r) + "), " + use(value, r) +
            ", memory_order_relaxed);");
  close_registers(registers_of(value));
}

}  // namespace enceladus::metal
