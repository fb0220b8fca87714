// The producer's part of a kernel with rings: the loads, in the control flow that decides about
// them, and the scalars that this takes. Everything else of the kernel is the consumers'.
#include "lowering/tile_to_simt/hopper_parts.h"
#include "support/check.h"

namespace enceladus::simt {
namespace {

using ir::AttributeName;
using ir::Builder;
using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Type;
using ir::Value;
using Values = std::vector<Value*>;

class Producer {
 public:
  Producer(Builder& builder, const HopperPlan& plan, const HopperValues& values, Values scalars)
      : builder_(builder), plan_(plan), values_(values), scalars_(std::move(scalars)) {}

  void run(const Region& tile) {
    if (!plan_.walks_grid) return region(tile);
    Region* around = builder_.region();
    GridWalk walk = open_grid_walk(builder_, plan_.is_uneven);
    program_ = walk.program;
    region(tile);
    close_grid_walk(builder_, walk);
    builder_.set_insertion_at_end(around);
  }

 private:
  void region(const Region& tile) {
    for (const Operation* op : tile)
      if (!op->is(Opcode::kYield)) operation(*op);
  }

  void operation(const Operation& op) {
    builder_.set_location_of(&op);
    auto load = plan_.load_of.find(&op);
    if (load != plan_.load_of.end()) return loads(load->second);
    if (op.is(Opcode::kFor)) return for_loop(op);
    if (op.is(Opcode::kIf)) return branch(op);
    if (op.result_count() == 1 && plan_.slice.needs(op.result())) scalar(op);
  }

  // All of a ring's loads where the last of them stands.
  void loads(int index) {
    const RingLoad& load = plan_.loads[static_cast<size_t>(index)];
    const RingPlan& ring = plan_.rings[static_cast<size_t>(load.ring)];
    if (ring.loads.back() != index) return;
    Value* handle = values_.rings[static_cast<size_t>(load.ring)];
    int64_t bytes = 0;
    for (int each : ring.loads) bytes += plan_.loads[static_cast<size_t>(each)].tile.bytes();
    Value* slot = builder_.create_typed(Opcode::kRingFill, {handle}, Type::number(DType::kInt32),
                                        {{AttributeName::kBytes, bytes}});
    for (int each : ring.loads) copy(each, handle, slot);
  }

  // A box a panel.
  void copy(int index, Value* ring, Value* slot) {
    const RingLoad& load = plan_.loads[static_cast<size_t>(index)];
    Values operands = {values_.maps[static_cast<size_t>(index)], ring, slot};
    for (const Value* scalar : load.map.coordinates)
      operands.push_back(coordinate(builder_, of(scalar)));
    Value* first = operands[3];
    for (int64_t panel = 0; panel < load.tile.panels(); ++panel) {
      Value* columns = builder_.integer(first->type(), panel * load.tile.panel_columns());
      operands[3] = panel ? builder_.create(Opcode::kAdd, {first, columns}) : first;
      builder_.create(Opcode::kCopyIn, operands, {},
                      {{AttributeName::kOffset, load.offset + panel * load.tile.panel_bytes()}});
    }
  }

  void scalar(const Operation& op) {
    if (plan_.walks_grid && op.is(Opcode::kProgramId)) {
      scalars_[op.result()->id()] = program_[static_cast<size_t>(op.integer(AttributeName::kAxis))];
      return;
    }
    Values operands;
    for (const Value* operand : op.operands()) operands.push_back(operand ? of(operand) : nullptr);
    Type type = op.result()->type();
    scalars_[op.result()->id()] = builder_
                                      .create(op.opcode(), operands, std::span(&type, 1),
                                              {op.attributes().begin(), op.attributes().end()})
                                      ->result();
  }

  void for_loop(const Operation& op) {
    std::vector<int> carried;
    for (int i = 0; i < op.result_count(); ++i)
      if (plan_.slice.needs(op.result(i)) || plan_.slice.needs(op.region(0)->argument(1 + i)))
        carried.push_back(i);
    if (carried.empty() && !plan_.slice.holds_load(&op)) return;
    Values initial;
    for (int i : carried) initial.push_back(of(op.operand(3 + i)));
    Operation* loop =
        builder_.for_loop(of(op.operand(0)), of(op.operand(1)), of(op.operand(2)), initial);
    scalars_[op.region(0)->argument(0)->id()] = loop->region(0)->argument(0);
    for (size_t i = 0; i < carried.size(); ++i) {
      int at = static_cast<int>(i) + 1;
      scalars_[op.region(0)->argument(1 + carried[i])->id()] = loop->region(0)->argument(at);
      scalars_[op.result(carried[i])->id()] = loop->result(at - 1);
    }
    nested(*op.region(0), loop->region(0), carried);
  }

  void branch(const Operation& op) {
    std::vector<int> kept;
    std::vector<Type> types;
    for (int i = 0; i < op.result_count(); ++i) {
      if (!plan_.slice.needs(op.result(i))) continue;
      kept.push_back(i);
      types.push_back(op.result(i)->type());
    }
    if (kept.empty() && !plan_.slice.holds_load(&op)) return;
    Operation* branch = builder_.if_else(of(op.operand(0)), types);
    for (size_t i = 0; i < kept.size(); ++i)
      scalars_[op.result(kept[i])->id()] = branch->result(static_cast<int>(i));
    for (int part = 0; part < 2; ++part) nested(*op.region(part), branch->region(part), kept);
  }

  void nested(const Region& tile, Region* into, const std::vector<int>& yielded) {
    Region* around = builder_.region();
    builder_.set_insertion_at_end(into);
    region(tile);
    Values values;
    for (int i : yielded) values.push_back(of(tile.terminator()->operand(i)));
    builder_.yield(values);
    builder_.set_insertion_at_end(around);
  }

  Value* of(const Value* scalar) const {
    Value* value = scalars_[scalar->id()];
    ENC_CHECK(value != nullptr, "the producer lacks a scalar");
    return value;
  }

  Builder& builder_;
  const HopperPlan& plan_;
  const HopperValues& values_;
  Values scalars_;
  std::array<Value*, 3> program_{};
};

}  // namespace

void write_producer(Builder& builder, const ir::Function& tile, const HopperPlan& plan,
                    const HopperValues& values, std::vector<Value*> scalars) {
  Producer(builder, plan, values, std::move(scalars)).run(tile.body());
}

}  // namespace enceladus::simt
