#include "analysis/memory_use.h"

namespace enceladus::analysis {
namespace {

using ir::Opcode;
using ir::Operation;
using ir::Region;
using ir::Value;

// For each value, the pointer parameters that it may have been computed from. Loops make this a
// fixed point: sets only grow.
class Origins {
 public:
  explicit Origins(const ir::Function& function)
      : parameters_(function.parameters().size()),
        sets_(function.value_count(), std::vector<bool>(parameters_)) {
    for (size_t i = 0; i < parameters_; ++i) {
      const Value* value = function.body().argument(static_cast<int>(i));
      if (value->type().is_pointer()) sets_[value->id()][i] = true;
    }
    do {
      changed_ = false;
      ir::walk(function.body(), [&](const Operation* op) { visit(*op); });
    } while (changed_);
  }

  const std::vector<bool>& of(const Value* value) const { return sets_[value->id()]; }

 private:
  void flow(const Value* from, const Value* to) {
    if (from == nullptr) return;
    for (size_t i = 0; i < parameters_; ++i) {
      if (!sets_[from->id()][i] || sets_[to->id()][i]) continue;
      sets_[to->id()][i] = true;
      changed_ = true;
    }
  }

  void flow_all(std::span<Value* const> from, std::span<Value* const> to) {
    for (size_t i = 0; i < from.size() && i < to.size(); ++i) flow(from[i], to[i]);
  }

  void visit(const Operation& op) {
    switch (op.opcode()) {
      case Opcode::kFor:  // carried values follow lower, upper and step, and the induction variable
        visit_loop(op, op.operands().subspan(3), *op.region(0), 1);
        return;
      case Opcode::kWhile:
        flow_all(op.operands(), op.region(0)->arguments());
        visit_loop(op, op.operands(), *op.region(1), 0);
        flow_all(op.region(1)->arguments(), op.region(0)->arguments());
        return;
      case Opcode::kIf:
        for (const Region* region : op.regions())
          if (const Operation* yield = region->terminator())
            flow_all(yield->operands(), op.results());
        return;
      default:
        // Loads give what memory holds, which is never a pointer of ours.
        if (op.record().effect != ir::Effect::kPure) return;
        for (const Value* operand : op.operands())
          for (const Value* result : op.results()) flow(operand, result);
    }
  }

  void visit_loop(const Operation& op, std::span<Value* const> initial, const Region& body,
                  size_t first_argument) {
    std::span<Value* const> arguments = body.arguments().subspan(first_argument);
    flow_all(initial, arguments);
    flow_all(initial, op.results());
    const Operation* yield = body.terminator();
    if (yield == nullptr) return;
    flow_all(yield->operands(), arguments);
    flow_all(yield->operands(), op.results());
  }

  size_t parameters_;
  std::vector<std::vector<bool>> sets_;
  bool changed_ = false;
};

}  // namespace

std::vector<ParameterUse> parameter_uses(const ir::Function& function) {
  Origins origins(function);
  std::vector<ParameterUse> uses(function.parameters().size());
  ir::walk(function.body(), [&](const Operation* op) {
    if (op->record().op_class != ir::OpClass::kMemory) return;
    ir::Effect effect = op->record().effect;
    bool reads = effect == ir::Effect::kRead || effect == ir::Effect::kReadWrite;
    bool writes = effect == ir::Effect::kWrite || effect == ir::Effect::kReadWrite;
    if (!reads && !writes) return;
    const std::vector<bool>& touched = origins.of(op->operand(0));
    for (size_t i = 0; i < uses.size(); ++i) {
      uses[i].is_read = uses[i].is_read || (reads && touched[i]);
      uses[i].is_written = uses[i].is_written || (writes && touched[i]);
    }
  });
  return uses;
}

}  // namespace enceladus::analysis
