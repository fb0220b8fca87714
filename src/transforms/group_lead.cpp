#include "transforms/group_lead.h"

#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

// A slot more is being freed: turns that the first group may run ahead.
constexpr int64_t kSlotsBehind = 1;
constexpr int64_t kLeastLead = 2;

// What of a loop takes part; all null where the loop does not suit.
struct Turn {
  const Operation* take = nullptr;
  Operation* meet = nullptr;
  Operation* result = nullptr;  // behind the loop, where its products are done
};

// The finished sums behind the wait that follows a loop.
Operation* result_behind(const Operation& loop) {
  Operation* op = loop.next();
  while (op && !op->is(Opcode::kWgmmaWait)) op = op->next();
  while (op && !op->is(Opcode::kWgmmaResult)) op = op->next();
  return op;
}

// The loop's only place where the groups meet: behind the slot of the product that follows.
Turn turn_of(const Operation& loop) {
  Turn turn;
  const Operation* before = nullptr;
  for (Operation* op : *loop.region(0)) {
    const Operation* previous = std::exchange(before, op);
    if (!op->is(Opcode::kPace)) continue;
    if (turn.meet) return {};
    turn.meet = op;
    turn.take = previous;
  }
  turn.result = result_behind(loop);
  bool is_whole = turn.meet && turn.take && turn.take->is(Opcode::kRingTake) && turn.result;
  return is_whole ? turn : Turn{};
}

class Leader {
 public:
  explicit Leader(ir::Function& function) : builder_(function) {}

  bool loop(Operation* loop) {
    Turn turn = turn_of(*loop);
    if (!turn.meet) return false;
    std::optional<int64_t> step = ir::constant_integer(loop->operand(2));
    int64_t slots = turn.take->operand(0)->definition()->integer(AttributeName::kSlots);
    int64_t lead = slots - kSlotsBehind;
    if (!step || *step <= 0 || lead < kLeastLead) return false;
    builder_.set_insertion_before(loop);
    builder_.set_location_of(turn.result);
    Value* start = wide(loop->operand(0));
    Value* end = wide(loop->operand(1));
    Value* is_far = compare(Opcode::kGt, minus(end, start), 2 * lead * *step);
    builder_.set_insertion_before(turn.meet);
    Value* at = wide(loop->region(0)->argument(0));
    Value* left = minus(end, at);
    Value* is_near_end = compare(Opcode::kLe, left, lead * *step);
    Value* is_near =
        both(Opcode::kOr, is_near_end, compare(Opcode::kLt, minus(at, start), lead * *step));
    pace_where(both(Opcode::kOr, negated(is_far), negated(is_near)), "meet");
    Value* is_first_of_these =
        both(Opcode::kAnd, is_near_end, compare(Opcode::kGt, left, (lead - 1) * *step));
    pace_where(both(Opcode::kAnd, is_far, is_first_of_these), "follow");
    turn.meet->erase();
    builder_.set_insertion_after(turn.result);
    pace_where(is_far, "lead");
    return true;
  }

 private:
  Value* wide(Value* value) { return builder_.cast(value, DType::kInt64); }
  Value* minus(Value* a, Value* b) { return builder_.create(Opcode::kSub, {a, b}); }
  Value* both(Opcode opcode, Value* a, Value* b) { return builder_.create(opcode, {a, b}); }
  Value* negated(Value* value) { return builder_.create(Opcode::kNot, {value}); }
  Value* compare(Opcode opcode, Value* value, int64_t number) {
    return builder_.create(opcode, {value, builder_.integer(value->type(), number)});
  }

  void pace_where(Value* condition, const char* role) {
    Operation* branch = builder_.if_else(condition, {});
    ir::Builder inside(builder_.function());
    inside.set_location_of(branch);
    inside.set_insertion_at_end(branch->region(0));
    inside.create(Opcode::kPace, std::span<Value* const>(), {},
                  {{AttributeName::kRole, std::string(role)}});
    inside.yield({});
    inside.set_insertion_at_end(branch->region(1));
    inside.yield({});
  }

  ir::Builder builder_;
};

}  // namespace

bool group_lead(ir::Function& function) {
  std::vector<Operation*> loops;
  ir::walk(function.body(), [&](Operation* op) {
    if (op->is(Opcode::kFor)) loops.push_back(op);
  });
  Leader leader(function);
  bool changed = false;
  for (Operation* loop : loops) changed |= leader.loop(loop);
  return changed;
}

}  // namespace enceladus::transforms
