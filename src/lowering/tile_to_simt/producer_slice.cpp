#include "lowering/tile_to_simt/producer_slice.h"

#include "lowering/tile_to_simt/refusal.h"

namespace enceladus::simt {

using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Value;

namespace {}  // namespace

std::string Slicer::add(const Operation& load, std::span<const Value* const> scalars) {
  ProducerSlice before = slice_;
  try {
    around(load);
    for (const Value* scalar : scalars) value(scalar);
    return {};
  } catch (const Refusal& refusal) {
    slice_ = std::move(before);
    return refusal.reason;
  }
}

void Slicer::around(const Operation& load) {
  for (const Operation* op = load.parent_operation(); op; op = op->parent_operation()) {
    require(op->is(Opcode::kFor) || op->is(Opcode::kIf), "the load stands in a `while`");
    slice_.parents[op->id()] = true;
    if (op->is(Opcode::kIf))
      value(op->operand(0));
    else
      loop_bounds(op);
  }
}

void Slicer::loop_bounds(const Operation* loop) {
  for (int i = 0; i < 3; ++i) value(loop->operand(i));
}

void Slicer::value(const Value* value) {
  if (slice_.needs(value)) return;
  require(value->type().is_scalar(), "where it loads depends on a tile");
  slice_.values[value->id()] = true;
  if (value->argument_of())
    argument(value);
  else
    result(value);
}

void Slicer::argument(const Value* value) {
  const Operation* loop = value->argument_of()->parent();
  if (!loop) return;  // a parameter
  require(loop->is(Opcode::kFor), "where it loads depends on a `while`");
  loop_bounds(loop);
  if (value->index() == 0) return;
  this->value(loop->operand(2 + value->index()));
  this->value(loop->region(0)->terminator()->operand(value->index() - 1));
}

void Slicer::result(const Value* value) {
  const Operation* op = value->definition();
  switch (op->opcode()) {
    case Opcode::kFor:
      loop_bounds(op);
      this->value(op->operand(3 + value->index()));
      return this->value(op->region(0)->terminator()->operand(value->index()));
    case Opcode::kIf:
      this->value(op->operand(0));
      for (const ir::Region* part : op->regions())
        this->value(part->terminator()->operand(value->index()));
      return;
    case Opcode::kLoad: {
      int parameter = effects_.roots(op->operand(0)).single();
      require(parameter >= 0 && !effects_.is_written(parameter),
              "where it loads is read from memory that the kernel may write");
      break;
    }
    default: {
      OpClass op_class = op->record().op_class;
      require(op_class == OpClass::kSource || op_class == OpClass::kElementwise,
              "where it loads depends on a tile");
    }
  }
  for (const Value* operand : op->operands())
    if (operand) this->value(operand);
}

}  // namespace enceladus::simt
