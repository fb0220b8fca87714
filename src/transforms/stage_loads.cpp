#include "transforms/stage_loads.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/effects.h"
#include "ir/builder.h"

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Type;
using ir::Value;

// A turn reads one slot while the loads for the next turn are on their way to the other.
constexpr int64_t kHeldStages = 2;

bool is_load(const Operation& op) {
  bool is_memory = op.is(Opcode::kLoad) || op.is(Opcode::kDescriptorLoad);
  return is_memory && op.result()->type().rank() == 2 && op.result()->type().is_number() &&
         !op.integer_or(AttributeName::kVolatile, 0);
}

// Whether a dot multiplies the tile, as it is or rearranged or converted.
bool feeds_dot(const Value* tile, const StagingLimits& limits) {
  return std::ranges::any_of(tile->users(), [&](const Operation* user) {
    if (user->is(Opcode::kDot))
      return (user->operand(0) == tile || user->operand(1) == tile) && limits.reads_stages(*user);
    bool passes = user->record().op_class == OpClass::kShape || user->is(Opcode::kCast);
    return passes && feeds_dot(user->result(), limits);
  });
}

// The operations of the body that the load's address needs, in program order.
class Cone {
 public:
  Cone(const Operation& load, const Region& body) : body_(body) {
    for (const Value* operand : load.operands()) add(operand);
    for (const Operation* op : body)
      if (members_.contains(op)) order_.push_back(op);
    order_.push_back(&load);
  }
  bool is_known() const { return known_; }
  const std::vector<const Operation*>& order() const { return order_; }

 private:
  void add(const Value* value) {
    if (!value || !known_) return;
    if (value->argument_of() == &body_) {
      known_ = value->index() == 0;  // the loop's index
      return;
    }
    const Operation* op = value->definition();
    if (!op || op->parent() != &body_ || !members_.insert(op).second) return;
    if (op->record().effect != ir::Effect::kPure || !op->regions().empty()) {
      known_ = false;
      return;
    }
    for (const Value* operand : op->operands()) add(operand);
  }

  const Region& body_;
  bool known_ = true;
  std::set<const Operation*> members_;
  std::vector<const Operation*> order_;
};

struct Staged {
  Operation* load;
  std::vector<const Operation*> cone;
  Value* buffer = nullptr;
};

class LoopStager {
 public:
  LoopStager(ir::Function& function, Operation* loop, const StagingLimits& limits)
      : builder_(function),
        effects_(function),
        facts_(function),
        loop_(loop),
        body_(*loop->region(0)),
        limits_(limits) {}

  bool run() {
    std::optional<int64_t> step = ir::constant_integer(loop_->operand(2));
    if (!step || *step <= 0) return false;
    find_loads();
    stages_ = choose_stages();
    if (stages_ < 2) loads_.clear(), held_.clear();
    if (loads_.empty() && held_.empty()) return false;
    builder_.set_location_of(loop_);
    make_prologue();
    Operation* staged = make_loop();
    fill_body(staged);
    for (int i = 0; i < loop_->result_count(); ++i)
      loop_->result(i)->replace_all_uses_with(staged->result(i));
    loop_->erase();
    return true;
  }

 private:
  bool may_be_written(const Operation& load) const {
    bool written = false;
    ir::walk(body_, [&](const Operation* op) {
      written |= analysis::writes_memory(*op) && effects_.may_alias(load, *op);
    });
    return written;
  }

  void find_loads() {
    for (Operation* op : body_) {
      if (!is_load(*op) || !feeds_dot(op->result(), limits_) || may_be_written(*op)) continue;
      Cone cone(*op, body_);
      if (!cone.is_known()) continue;
      bool is_copied = limits_.is_copied(*op, facts_);
      (is_copied ? loads_ : held_).push_back({op, cone.order()});
    }
  }

  int choose_stages() const {
    int64_t wanted = loop_->integer_or(AttributeName::kNumStages, 0);
    if (wanted <= 0) wanted = builder_.function().options().num_stages;
    if (wanted <= 0) wanted = limits_.default_stages;
    int64_t left = limits_.bytes - kHeldStages * bytes_of(held_);
    if (left < 0) return 0;
    return static_cast<int>(std::min(wanted, left / std::max<int64_t>(1, bytes_of(loads_))));
  }

  static int64_t bytes_of(const std::vector<Staged>& loads) {
    int64_t bytes = 0;
    for (const Staged& staged : loads) {
      const Type& type = staged.load->result()->type();
      bytes += type.elements() * byte_size(type.dtype());
    }
    return bytes;
  }

  Value* slot(int64_t number) { return builder_.integer(Type::number(DType::kInt32), number); }

  // Where `index` is still below the loop's end: fills `slot` of every buffer.
  void fill(const std::vector<Staged>& loads, Value* index, Value* slot) {
    Value* inside = builder_.create(Opcode::kLt, {index, loop_->operand(1)});
    Operation* branch = builder_.if_else(inside, {});
    ir::Builder within(builder_.function());
    within.set_location_of(loop_);
    within.set_insertion_at_end(branch->region(0));
    std::map<const Value*, Value*> copies{{body_.argument(0), index}};
    for (const Staged& staged : loads) {
      for (const Operation* op : staged.cone)
        if (!copies.contains(op->result())) copies[op->result()] = copy(within, *op, copies);
      Value* tile = copies[staged.load->result()];
      within.create(Opcode::kStageStore, std::vector<Value*>{staged.buffer, slot, tile}, {});
    }
    within.yield({});
    within.set_insertion_at_end(branch->region(1));
    within.yield({});
  }

  void commit() { builder_.create(Opcode::kStageCommit, std::span<Value* const>(), {}); }

  void wait(int64_t pending) {
    builder_.create(Opcode::kStageWait, std::span<Value* const>(), {},
                    {{AttributeName::kPending, pending}});
  }

  void make_buffers(std::vector<Staged>& loads, int64_t stages) {
    for (Staged& staged : loads) {
      const Type& tile = staged.load->result()->type();
      staged.buffer = builder_.create_typed(Opcode::kStageBuffer, {},
                                            Type::descriptor(tile.dtype(), tile.shape()),
                                            {{AttributeName::kNumStages, stages}});
    }
  }

  // What a load gives at `index`, where that is still below the loop's end.
  Value* load_at(const Staged& staged, Value* index) {
    Value* inside = builder_.create(Opcode::kLt, {index, loop_->operand(1)});
    std::map<const Value*, Value*> copies{{body_.argument(0), index}};
    for (const Operation* op : staged.cone) copies[op->result()] = copy(builder_, *op, copies);
    Value* loaded = copies[staged.load->result()];
    Operation* load = loaded->definition();
    if (load->is(Opcode::kLoad)) {  // a descriptor's block ends by itself
      builder_.set_insertion_before(load);
      Type like = loaded->type().with_dtype(DType::kInt1);
      Value* mask = builder_.create_typed(Opcode::kSplat, {inside}, like);
      if (load->operand(1)) mask = builder_.create(Opcode::kAnd, {load->operand(1), mask});
      load->set_operand(1, mask);
      builder_.set_insertion_after(load);
    }
    return loaded;
  }

  static Value* copy(ir::Builder& builder, const Operation& op,
                     const std::map<const Value*, Value*>& copies) {
    std::vector<Value*> operands;
    for (Value* operand : op.operands()) {
      auto found = copies.find(operand);
      operands.push_back(found == copies.end() ? operand : found->second);
    }
    Type type = op.result()->type();
    builder.set_location_of(&op);
    Operation* made = builder.create(op.opcode(), operands, std::span(&type, 1),
                                     {op.attributes().begin(), op.attributes().end()});
    made->result()->set_name(op.result()->name());
    return made->result();
  }

  bool is_repeated() const {
    const Operation* around = loop_->parent_operation();
    while (around && around->is(Opcode::kIf)) around = around->parent_operation();
    return around != nullptr;
  }

  void make_prologue() {
    builder_.set_insertion_before(loop_);
    // The slots may still be read by threads in the turn before of a loop around this one.
    if (is_repeated()) wait(0);
    make_buffers(loads_, stages_);
    make_buffers(held_, kHeldStages);
    Value* index = loop_->operand(0);
    if (!held_.empty()) {
      fill(held_, index, slot(0));
      commit();
    }
    if (loads_.empty()) return;
    for (int i = 0; i + 1 < stages_; ++i) {
      fill(loads_, index, slot(i));
      commit();
      index = builder_.create(Opcode::kAdd, {index, loop_->operand(2)});
    }
  }

  Operation* make_loop() {
    std::vector<Value*> initial(loop_->operands().begin() + 3, loop_->operands().end());
    if (!held_.empty()) initial.push_back(slot(0));
    if (!loads_.empty()) {
      initial.push_back(slot(0));
      initial.push_back(slot(stages_ - 1));
    }
    Operation* staged =
        builder_.for_loop(loop_->operand(0), loop_->operand(1), loop_->operand(2), initial);
    for (const ir::Attribute& attribute : loop_->attributes())
      staged->set_attribute(attribute.name, attribute.value);
    return staged;
  }

  Value* next_slot(Value* at, int64_t stages) {
    Value* next = builder_.create(Opcode::kAdd, {at, slot(1)});
    Value* wraps = builder_.create(Opcode::kEq, {next, slot(stages)});
    return builder_.create(Opcode::kSelect, {slot(0), next, wraps});
  }

  Value* stage_load(const Staged& staged, Value* slot) {
    const Type& type = staged.load->result()->type();
    return builder_.create_typed(Opcode::kStageLoad, {staged.buffer, slot}, type);
  }

  // Behind the rings' wait: the copies of a later turn, the loads of the next one, which
  // `close_body` stores, and what this turn reads.
  void open_body(Region* region, std::vector<Value*>& next) {
    int first = 1 + loop_->result_count();
    int64_t step = *ir::constant_integer(loop_->operand(2));
    auto later = [&](int64_t turns) {
      Value* distance = builder_.integer(loop_->operand(0)->type(), turns * step);
      return builder_.create(Opcode::kAdd, {region->argument(0), distance});
    };
    builder_.set_insertion_at_end(region);
    wait(loads_.empty() ? 0 : stages_ - 2);
    if (!held_.empty()) {
      Value* read = region->argument(first++);
      for (const Staged& one : held_) {
        coming_.push_back(load_at(one, later(1)));
        builder_.set_insertion_at_end(region);
      }
      for (const Staged& one : held_) loaded_[one.load] = stage_load(one, read);
      next.push_back(next_slot(read, kHeldStages));
    }
    if (loads_.empty()) return;
    Value *read = region->argument(first), *write = region->argument(first + 1);
    fill(loads_, later(stages_ - 1), write);
    commit();
    for (const Staged& one : loads_) loaded_[one.load] = stage_load(one, read);
    next.push_back(next_slot(read, stages_));
    next.push_back(next_slot(write, stages_));
  }

  // The slot that the next turn reads was read in the turn before this one.
  void close_body(Value* slot) {
    for (size_t i = 0; i < held_.size(); ++i)
      builder_.create(Opcode::kStageStore, std::vector<Value*>{held_[i].buffer, slot, coming_[i]},
                      {});
  }

  void fill_body(Operation* staged) {
    Region* region = staged->region(0);
    std::vector<Value*> next;
    open_body(region, next);
    for (int i = 0; i <= loop_->result_count(); ++i) {
      region->argument(i)->set_name(body_.argument(i)->name());
      body_.argument(i)->replace_all_uses_with(region->argument(i));
    }
    for (auto& [load, loaded] : loaded_) {
      loaded->set_name(load->result()->name());
      load->result()->replace_all_uses_with(loaded);
    }
    std::vector<Value*> yielded(body_.terminator()->operands().begin(),
                                body_.terminator()->operands().end());
    yielded.insert(yielded.end(), next.begin(), next.end());
    body_.terminator()->erase();
    builder_.set_location_of(loop_);
    builder_.set_insertion_at_end(region);
    Operation* last = region->back();
    close_body(next.front());
    builder_.yield(yielded);
    Operation* end = last->next();
    for (Operation* op : body_) {
      if (loaded_.contains(op))
        op->erase();
      else
        op->move_before(end);
    }
  }

  ir::Builder builder_;
  analysis::MemoryEffects effects_;
  analysis::Facts facts_;
  Operation* loop_;
  Region& body_;
  const StagingLimits& limits_;
  std::vector<Staged> loads_;   // copied asynchronously
  std::vector<Staged> held_;    // in registers for a turn
  std::vector<Value*> coming_;  // what these hold
  std::map<Operation*, Value*> loaded_;
  int stages_ = 0;
};

}  // namespace

bool stage_loads(ir::Function& function, const StagingLimits& limits) {
  std::vector<Operation*> loops;
  ir::walk(function.body(), [&](Operation* op) {
    bool has_dot = false;
    if (op->is(Opcode::kFor))
      for (const Operation* nested : *op->region(0)) has_dot |= nested->is(Opcode::kDot);
    if (has_dot) loops.push_back(op);
  });
  bool changed = false;
  for (Operation* loop : loops) changed |= LoopStager(function, loop, limits).run();
  return changed;
}

}  // namespace enceladus::transforms
