#include "analysis/cost.h"

#include <algorithm>

#include "analysis/facts.h"

namespace enceladus::analysis {
namespace {

using ir::Opcode;
using ir::Operation;

double elements_of(const ir::Type& type) { return static_cast<double>(type.elements()); }

double result_elements(const Operation& op) {
  return op.result_count() > 0 ? elements_of(op.result()->type()) : 0;
}

double dot_operations(const Operation& dot) {
  const ir::Type& a = dot.operand(0)->type();
  return 2 * result_elements(dot) * static_cast<double>(a.extent(a.rank() - 1));
}

class Estimator {
 public:
  explicit Estimator(const ir::Function& function) : facts_(function) {}

  void region(const ir::Region& region, double turns) {
    for (const Operation* op : region) operation(*op, turns);
  }

  Cost cost;

 private:
  void operation(const Operation& op, double turns) {
    switch (op.record().op_class) {
      case ir::OpClass::kElementwise:
        cost.operations +=
            turns * result_elements(op) * (is_math_function(op.opcode()) ? kMathOperations : 1);
        break;
      case ir::OpClass::kReduction:
        cost.operations += turns * elements_of(op.operand(0)->type());
        break;
      case ir::OpClass::kMatrix:
        cost.operations += turns * dot_operations(op);
        break;
      case ir::OpClass::kMemory:
        if (op.record().effect != ir::Effect::kPure) cost.bytes += turns * access_bytes(op);
        break;
      case ir::OpClass::kControl:
        control(op, turns);
        break;
      default:
        break;
    }
  }

  void control(const Operation& op, double turns) {
    double factor = 1;
    if (op.is(Opcode::kFor)) factor = trip_count(op);
    if (op.is(Opcode::kWhile)) factor = assumed_turns();
    if (op.is(Opcode::kIf)) factor = 0.5;
    for (const ir::Region* nested : op.regions()) region(*nested, turns * factor);
  }

  double assumed_turns() {
    cost.has_unknown_loops = true;
    return kAssumedTurns;
  }

  double trip_count(const Operation& loop) {
    Range lower = facts_.range(loop.operand(0));
    Range upper = facts_.range(loop.operand(1));
    Range step = facts_.range(loop.operand(2));
    if (!lower.is_single() || !upper.is_single() || !step.is_single() || step.low == 0)
      return assumed_turns();
    double distance = static_cast<double>(upper.low) - static_cast<double>(lower.low);
    double turns = distance / static_cast<double>(step.low);
    return std::max(0.0, turns);
  }

  Facts facts_;
};

}  // namespace

bool is_math_function(Opcode opcode) {
  switch (opcode) {
    case Opcode::kExp:
    case Opcode::kExp2:
    case Opcode::kLog:
    case Opcode::kLog2:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kTanh:
    case Opcode::kErf:
      return true;
    default:
      return false;
  }
}

Effort effort_of(const Operation& op) {
  if (is_math_function(op.opcode())) return Effort::kFunction;
  switch (op.opcode()) {
    case Opcode::kSqrt:
    case Opcode::kSqrtRn:
    case Opcode::kRsqrt:
    case Opcode::kDivRn:
      return Effort::kRoot;
    case Opcode::kDiv:
    case Opcode::kRem:
      return op.result()->type().is_float() ? Effort::kRoot : Effort::kIntegerDivision;
    default:
      return Effort::kPlain;
  }
}

double access_bytes(const Operation& op) {
  const ir::Type& place = op.operand(0)->type();
  bool is_descriptor = place.is_descriptor();
  // A descriptor load of fewer elements than the block (gather) is measured by its result.
  const ir::Type& moved =
      is_descriptor && op.is(Opcode::kDescriptorLoad) ? op.result()->type() : place;
  double directions = op.record().effect == ir::Effect::kReadWrite ? 2 : 1;
  return directions * elements_of(moved) * byte_size(place.dtype());
}

Cost estimate_cost(const ir::Function& function) {
  Estimator estimator(function);
  estimator.region(function.body(), 1);
  return estimator.cost;
}

}  // namespace enceladus::analysis
