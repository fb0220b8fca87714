#include "transforms/slice_stores.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "ir/builder.h"

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;
using Map = std::vector<int64_t>;

bool is_panel(const Operation& op) {
  return op.is(Opcode::kRegisters) &&
         std::ranges::all_of(op.result()->users(), [](const Operation* user) {
           return user->is(Opcode::kStoreMatrix) || user->is(Opcode::kStorePairs);
         });
}

bool is_by_register(const Operation& op) {
  bool fits = op.record().op_class == ir::OpClass::kElementwise || op.is(Opcode::kRegisters) ||
              op.is(Opcode::kSplat) || op.is(Opcode::kConstant);
  return fits && op.result_count() == 1 && op.result()->type().rank() > 0;
}

// Within one region.
class Slicer {
 public:
  Slicer(ir::Function& function, const ir::Region& region) : builder_(function) {
    std::vector<Operation*> operations;
    for (Operation* op : region) operations.push_back(op);
    std::ranges::reverse(operations);
    for (Operation* op : operations) {
      if (is_panel(*op) && is_by_register(*op)) {
        panels_.push_back(op);
        replaced_.insert(op);
      } else if (is_by_register(*op) && is_for_panels_alone(*op)) {
        replaced_.insert(op);
        dead_.push_back(op);
      }
    }
  }

  bool run() {
    if (dead_.empty() || overlap()) return false;
    for (Operation* panel : panels_) {
      builder_.set_insertion_before(panel);
      built_.clear();
      std::span<const int64_t> map = panel->integers(AttributeName::kRegisterMap);
      Value* sliced = slice(panel->operand(0), Map(map.begin(), map.end()));
      panel->result()->replace_all_uses_with(sliced);
      panel->erase();
    }
    for (Operation* op : dead_) op->erase();
    return true;
  }

 private:
  bool is_for_panels_alone(const Operation& op) const {
    std::span<Operation* const> users = op.result()->users();
    return !users.empty() && std::ranges::all_of(users, [&](const Operation* user) {
      return replaced_.contains(user);
    });
  }

  // Whether a register is in two panels, so that it would be computed twice.
  bool overlap() const {
    std::set<std::pair<const Value*, int64_t>> seen;
    for (const Operation* panel : panels_)
      for (int64_t index : panel->integers(AttributeName::kRegisterMap))
        if (!seen.insert({panel->operand(0), index}).second) return true;
    return false;
  }

  Value* slice(Value* value, const Map& map) {
    Value*& built = built_[{value, map}];
    if (!built) built = made(value, map);
    return built;
  }

  Value* made(Value* value, const Map& map) {
    const Operation* op = value->definition();
    ir::Type type =
        value->type().with_shape(std::vector<int64_t>{static_cast<int64_t>(map.size())});
    if (!op || !replaced_.contains(op))
      return builder_.create_typed(Opcode::kRegisters, {value}, type,
                                   {{AttributeName::kRegisterMap, map}});
    builder_.set_location_of(op);
    if (op->is(Opcode::kRegisters)) {
      Map through;
      for (int64_t index : map)
        through.push_back(op->integers(AttributeName::kRegisterMap)[static_cast<size_t>(index)]);
      return slice(op->operand(0), through);
    }
    std::vector<Value*> operands;
    for (Value* operand : op->operands())
      operands.push_back(operand && operand->type().rank() > 0 ? slice(operand, map) : operand);
    builder_.set_location_of(op);
    return builder_
        .create(op->opcode(), operands, std::span(&type, 1),
                {op->attributes().begin(), op->attributes().end()})
        ->result();
  }

  ir::Builder builder_;
  std::vector<Operation*> panels_;
  std::set<const Operation*> replaced_;
  std::vector<Operation*> dead_;  // users first
  std::map<std::pair<Value*, Map>, Value*> built_;
};

}  // namespace

bool slice_stores(ir::Function& function) {
  std::set<ir::Region*> regions;
  ir::walk(function.body(), [&](const Operation* op) {
    if (op->is(Opcode::kStoreMatrix) || op->is(Opcode::kStorePairs)) regions.insert(op->parent());
  });
  bool changed = false;
  for (ir::Region* region : regions) changed |= Slicer(function, *region).run();
  return changed;
}

}  // namespace enceladus::transforms
