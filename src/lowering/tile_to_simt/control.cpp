#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

// `value` as the loop variable or result `like` has it.
Value* Lowering::carried(const Value* value, const Value* like) {
  if (value->type().rank() == 0) return scalar(value);
  return pull(value, *assignment_.home(like));
}

void Lowering::define(const Value* value, Value* simt) {
  if (value->type().rank() == 0)
    set_scalar(value, simt);
  else
    set_tile(value, simt);
}

void Lowering::yield(const ir::Region& tile, std::span<Value* const> like) {
  const Operation* yield = tile.terminator();
  builder_.set_location_of(yield);
  Values values;
  for (int i = 0; i < yield->operand_count(); ++i)
    if (const Value* variable = like[static_cast<size_t>(i)])
      values.push_back(carried(yield->operand(i), variable));
  builder_.yield(values);
}

void Lowering::nested(const ir::Region& tile, ir::Region* simt, std::span<Value* const> like) {
  region(tile, simt);
  yield(tile, like);
  scopes_.pop_back();
  place_at(scopes_.size() - 1);
}

// An accumulator that a library keeps is no variable of the loop.
void Lowering::for_loop(const Operation& op) {
  std::span<Value* const> arguments = op.region(0)->arguments().subspan(1);
  Values variables(arguments.begin(), arguments.end()), initial;
  if (const MatmulLoop* matmul = matmul_loops_.of(op)) variables[matmul->carried] = nullptr;
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i]) initial.push_back(carried(op.operand(3 + static_cast<int>(i)), variables[i]));
  builder_.set_location_of(&op);
  Operation* loop = builder_.for_loop(scalar(op.operand(0)), scalar(op.operand(1)),
                                      scalar(op.operand(2)), initial);
  for (const ir::Attribute& attribute : op.attributes())
    loop->set_attribute(attribute.name, attribute.value);
  set_scalar(op.region(0)->argument(0), loop->region(0)->argument(0));
  int next = 0;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!variables[i]) continue;
    define(variables[i], loop->region(0)->argument(1 + next));
    define(op.results()[i], loop->result(next));
    ++next;
  }
  nested(*op.region(0), loop->region(0), variables);
}

void Lowering::while_loop(const Operation& op) {
  std::span<Value* const> variables = op.region(1)->arguments();
  Values initial;
  for (size_t i = 0; i < variables.size(); ++i)
    initial.push_back(carried(op.operand(static_cast<int>(i)), variables[i]));
  builder_.set_location_of(&op);
  Operation* loop = builder_.while_loop(initial);
  for (size_t i = 0; i < variables.size(); ++i) {
    int index = static_cast<int>(i);
    for (int part = 0; part < 2; ++part)
      define(op.region(part)->argument(index), loop->region(part)->argument(index));
    define(op.result(index), loop->result(index));
  }
  nested(*op.region(0), loop->region(0), op.region(0)->terminator()->operands());
  nested(*op.region(1), loop->region(1), variables);
}

void Lowering::branch(const Operation& op) {
  std::vector<Type> types;
  for (const Value* result : op.results()) {
    bool is_tile = result->type().rank() > 0;
    types.push_back(is_tile ? array_type(result->type(), *assignment_.home(result))
                            : result->type());
  }
  Operation* branch = builder_.if_else(scalar(op.operand(0)), types);
  for (int i = 0; i < op.result_count(); ++i) define(op.result(i), branch->result(i));
  for (int part = 0; part < 2; ++part) nested(*op.region(part), branch->region(part), op.results());
}

}  // namespace enceladus::simt
