// Matrix instructions.
#include "codegen/cuda/emitter.h"

namespace enceladus::cuda {

using ir::AttributeName;
using ir::Operation;
using ir::Value;

// One loop a dimension of fragments, the depth outermost, so that neighbouring instructions do not
// wait for one another.
void Emitter::mma(const Operation& op) {
  std::span<const int64_t> counts = op.integers(AttributeName::kFragments);
  std::span<const int64_t> registers = op.integers(AttributeName::kFragmentRegisters);
  const Value* result = op.result();
  auto dtype = [&](int operand) { return op.operand(operand)->type().dtype(); };
  std::string function =
      prelude_.matrix(op.text(AttributeName::kInstruction), dtype(0), dtype(1), dtype(2));
  declare(result);
  Index r = open_registers(registers_of(result));
  out_.line(use(result, r) + " = " + use(op.operand(2), r) + ";");
  close_registers(registers_of(result));
  int open_loops = 0;
  auto open = [&](std::string_view name, int64_t count) -> std::string {
    if (count == 1) return "0";
    std::string index = names_.unique(name);
    out_.directive("#pragma unroll");
    out_.open("for (int " + index + " = 0; " + index + " < " + std::to_string(count) + "; ++" +
              index + ")");
    ++open_loops;
    return index;
  };
  std::string batch = open("batch", counts[0]), depth = open("depth", counts[3]);
  std::string row = open("row", counts[1]), column = open("column", counts[2]);
  // The first register of a fragment.
  auto place = [&](int operand, const std::string& outer, int64_t outers, const std::string& inner,
                   int64_t inners) {
    int64_t each = registers[static_cast<size_t>(operand)];
    auto scaled = [](const std::string& index, int64_t by) {
      if (index == "0" || by == 1) return index;
      return index + " * " + std::to_string(by);
    };
    std::string text;
    for (const std::string& term :
         {scaled(batch, each * outers * inners), scaled(outer, each * inners), scaled(inner, each)})
      if (term != "0") text += (text.empty() ? "" : " + ") + term;
    return text.empty() ? Index::of(0) : Index{text, std::nullopt};
  };
  std::string lists[2];
  for (int operand = 0; operand < 2; ++operand) {
    Index at = operand == 0 ? place(0, row, counts[1], depth, counts[3])
                            : place(1, depth, counts[3], column, counts[2]);
    lists[operand] = names_.unique(operand == 0 ? "left" : "right");
    std::string list;
    int64_t each = registers[static_cast<size_t>(operand)];
    for (int64_t i = 0; i < each; ++i)
      list += (i ? ", " : "") + use(op.operand(operand), at.plus(i));
    out_.line("const " + std::string(dialect_.type_name(dtype(operand))) + " " + lists[operand] +
              "[" + std::to_string(each) + "] = {" + list + "};");
  }
  out_.line(function + "(&" + use(result, place(2, row, counts[1], column, counts[2])) + ", " +
            lists[0] + ", " + lists[1] + ");");
  while (open_loops-- > 0) out_.close();
}

}  // namespace enceladus::cuda
