// Loops with products that run on into the next turn (hopper_plan.h). One that alone touches its
// sum is waited for behind the next one's start. The others are waited for with the product that
// their plan names; or they start late, behind that product of the next turn, so that it is done
// first and they run while its result is worked on:
//
//   start S(j); start acc += P(j - 1) V(j - 1); wait for S(j); ... P(j) ...; wait for acc
#include <algorithm>

#include "ir/builder.h"
#include "lowering/tile_to_simt/lowering.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

// Whether there is a slot: -1 is none.
Value* Lowering::is_used(Value* slot) {
  return builder_.create(Opcode::kGe, {slot, builder_.integer(slot->type(), 0)});
}

Value*& Lowering::sum_of(const Running& running) {
  return arrays_[{running.sum->id(), layout_id(*assignment_.home(running.sum))}];
}

// What ran on from the turn before is done.
void Lowering::finish_turn(const Running& running) {
  Value* used = is_used(running.slot);
  if (running.sum) {
    Value*& sum = sum_of(running);
    Value* any = running.starts_at_zero ? used : nullptr;
    sum = builder_.create(Opcode::kWgmmaResult, {sum, any});
  }
  free_slot(running.ring, running.slot, used);
}

// Behind the start of the loop's first product; how many started.
int Lowering::start_late_products(const Operation& first) {
  int started = 0;
  for (Running& running : running_) {
    const WgmmaPlan& product = hopper_.products.at(running.dot);
    if (!product.done_before || product.waits_with != &first) continue;
    start_late(running);
    ++started;
  }
  return started;
}

// With the operand of the turn before, if there was one; from then on its slot is known. Where
// there was none nothing else may be pending either, so that the wait behind it counts the same.
void Lowering::start_late(Running& running) {
  Operation* branch = builder_.if_else(is_used(running.slot), std::span(&kInt32, 1));
  within(branch->region(0), [&] {
    take(running.ring, false);
    start_product(*running.dot, running.left, sum_of(running), nullptr);
    builder_.yield({slots_[static_cast<size_t>(running.ring)]});
  });
  within(branch->region(1), [&] {
    simt_statement(Opcode::kWgmmaWait, {}, {{AttributeName::kPending, int64_t{0}}});
    builder_.yield({builder_.integer(kInt32, -1)});
  });
  running.slot = branch->result();
}

// At its place in the turn a product that starts late has its operands; `sum` is carried on.
void Lowering::put_off(const Operation& op, Value* left, Value* sum) {
  for (Running& running : running_)
    if (running.dot == &op) running.next_left = left;
  set_tile(op.result(), sum);
}

void Lowering::finish_before(const Operation& op) {
  for (const Running& running : running_) {
    if (hopper_.products.at(running.dot).done_before != &op) continue;
    builder_.set_location_of(running.dot);
    simt_statement(Opcode::kWgmmaWait, {}, {{AttributeName::kPending, int64_t{0}}});
    finish_turn(running);
    builder_.set_location_of(&op);
  }
}

// Of the loop's variables, then of what each running product needs: a slot, or whether there was a
// turn before; then registers of A.
Values Lowering::initial_values(const Operation& op) {
  std::span<Value* const> variables = op.region(0)->arguments().subspan(1);
  Values initial;
  for (size_t i = 0; i < variables.size(); ++i)
    initial.push_back(carried(op.operand(3 + static_cast<int>(i)), variables[i]));
  builder_.set_location_of(&op);
  for (const Running& running : running_) {
    if (!running.starts_at_zero) continue;
    Value*& sum = initial[static_cast<size_t>(running.index)];
    sum = builder_.create_typed(Opcode::kUndefined, {}, sum->type());
  }
  for (size_t i = 0; i < running_.size(); ++i) initial.push_back(builder_.integer(kInt32, -1));
  for (const Running& running : running_) {
    const WgmmaPlan& product = hopper_.products.at(running.dot);
    if (!product.done_before) continue;
    const Type& left = running.dot->operand(0)->type();
    LinearLayout layout =
        wgmma_operand_layout(left.shape(), product.group, assignment_.warp_bits());
    initial.push_back(builder_.create_typed(Opcode::kUndefined, {}, array_type(left, layout)));
  }
  return initial;
}

Values Lowering::values_of_next_turn(const ir::Region& tile) {
  std::span<Value* const> variables = tile.arguments().subspan(1);
  Values values;
  for (size_t i = 0; i < variables.size(); ++i)
    values.push_back(carried(tile.terminator()->operand(static_cast<int>(i)), variables[i]));
  for (const Running& running : running_) {
    bool late = hopper_.products.at(running.dot).done_before != nullptr;
    values.push_back(late ? builder_.integer(kInt32, 0)
                          : slots_[static_cast<size_t>(running.ring)]);
    if (hopper_.products.at(running.dot).waits_with) continue;
    simt_statement(Opcode::kWgmmaWait, {}, {{AttributeName::kPending, int64_t{1}}});
    Running freed = running;
    freed.sum = nullptr;
    finish_turn(freed);
  }
  for (const Running& running : running_)
    if (running.next_left) values.push_back(running.next_left);
  return values;
}

void Lowering::running_loop(const Operation& op, const std::vector<const Operation*>& dots) {
  const ir::Region& tile = *op.region(0);
  std::span<Value* const> variables = tile.arguments().subspan(1);
  std::vector<Running> around = std::move(running_);
  running_.clear();
  for (const Operation* dot : dots) running_.push_back(running_product(*dot, op));
  Values initial = initial_values(op);
  Operation* loop = builder_.for_loop(scalar(op.operand(0)), scalar(op.operand(1)),
                                      scalar(op.operand(2)), initial);
  ir::Region* body = loop->region(0);
  set_scalar(tile.argument(0), body->argument(0));
  for (size_t i = 0; i < variables.size(); ++i)
    define(variables[i], body->argument(1 + static_cast<int>(i)));
  // Slots and registers of A, among the loop's own variables or results.
  auto take_over = [&](const auto& value_at) {
    int next = static_cast<int>(variables.size());
    for (Running& running : running_) running.slot = value_at(next++);
    for (Running& running : running_)
      if (hopper_.products.at(running.dot).done_before) running.left = value_at(next++);
  };
  take_over([&](int index) { return body->argument(1 + index); });
  region(tile, body);
  builder_.yield(values_of_next_turn(tile));
  scopes_.pop_back();
  place_at(scopes_.size() - 1);
  for (int i = 0; i < op.result_count(); ++i) define(op.result(i), loop->result(i));
  take_over([&](int index) { return loop->result(index); });
  for (Running& running : running_) {
    running.sum = op.result(running.index);
    if (hopper_.products.at(running.dot).done_before) start_late(running);
  }
  simt_statement(Opcode::kWgmmaWait, {}, {{AttributeName::kPending, int64_t{0}}});
  for (const Running& running : running_) finish_turn(running);
  running_ = std::move(around);
}

Lowering::Running Lowering::running_product(const Operation& dot, const Operation& loop) const {
  const ir::Region& body = *loop.region(0);
  const WgmmaPlan& product = hopper_.products.at(&dot);
  Running running;
  running.dot = &dot;
  const std::span<Value* const> yielded = body.terminator()->operands();
  running.index = static_cast<int>(std::ranges::find(yielded, dot.result()) - yielded.begin());
  running.sum = body.argument(1 + running.index);
  running.ring = hopper_.loads[static_cast<size_t>(product.b.load)].ring;
  running.starts_at_zero =
      !product.waits_with && ir::constant_bits(loop.operand(3 + running.index)) == 0;
  return running;
}

}  // namespace enceladus::simt
