#include "lowering/tile_to_simt/matmul_loops.h"

#include <algorithm>

#include "analysis/effects.h"
#include "ir/builder.h"

namespace enceladus::simt {
namespace {

using ir::AttributeName;
using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Value;

constexpr int64_t kSmallest = 16, kLargest = 128;
constexpr int kMostMppWarps = 8;

bool is_zero(const Value* value) {
  const Operation* op = value->definition();
  if (op && op->is(Opcode::kSplat)) return is_zero(op->operand(0));
  return op && op->is(Opcode::kConstant) && op->integer(AttributeName::kBits) == 0;
}

bool is_inside(const Operation& op, const Operation& loop) {
  for (const Operation* around = op.parent_operation(); around; around = around->parent_operation())
    if (around == &loop) return true;
  return false;
}

bool only_user(const Value* value, const Operation& op) {
  return value->users().size() == 1 && value->users().front() == &op;
}

std::string name_of(DType dtype) { return std::string(info(dtype).python_name); }

// Each step gives the sentence of its failure, or nothing.
class Matcher {
 public:
  Matcher(const ir::Function& function, const DirectLoads& direct, const analysis::Facts& facts)
      : options_(function.options()), direct_(direct), facts_(facts), effects_(function) {}

  std::string match(const Operation& dot, MatmulLoop& found) {
    found.dot = &dot;
    for (auto step :
         {&Matcher::types, &Matcher::shape, &Matcher::loop, &Matcher::operands, &Matcher::epilogue})
      if (std::string failure = (this->*step)(found); !failure.empty()) return failure;
    return "";
  }

 private:
  std::string types(MatmulLoop& found) {
    auto type = [&](int operand) { return found.dot->operand(operand)->type().dtype(); };
    bool known =
        type(0) == DType::kFloat16 || type(0) == DType::kBFloat16 || type(0) == DType::kFloat32;
    bool fits = known && type(0) == type(1) && (type(2) == DType::kFloat32 || type(2) == type(0));
    if (fits) return "";
    return "matmul2d does not multiply " + name_of(type(0)) + " with " + name_of(type(1)) +
           " into " + name_of(type(2));
  }

  std::string shape(MatmulLoop& found) {
    const ir::Type& result = found.dot->result()->type();
    if (result.rank() != 2) return "the product is batched";
    for (int64_t extent : result.shape())
      if (extent < kSmallest || extent > kLargest)
        return "the output tile is " + std::to_string(result.extent(0)) + "x" +
               std::to_string(result.extent(1)) + ", but each dimension must be 16 to 128";
    if (options_.num_warps > kMostMppWarps)
      return "num_warps is " + std::to_string(options_.num_warps) + ", but at most 8 warps serve";
    if (!options_.arrays_small) return "an array has 2^31 elements or more";
    return "";
  }

  std::string loop(MatmulLoop& found) {
    const Operation* loop = found.dot->parent_operation();
    const Value* acc = found.dot->operand(2);
    std::string updated =
        "the accumulator is not updated only by `acc = tl.dot(a, b, acc)` in a loop";
    if (!loop || !loop->is(Opcode::kFor) || acc->argument_of() != loop->region(0)) return updated;
    found.loop = loop;
    found.carried = static_cast<size_t>(acc->index()) - 1;
    const Operation* yield = loop->region(0)->terminator();
    bool carries = yield->operand(static_cast<int>(found.carried)) == found.dot->result();
    if (!carries || !only_user(acc, *found.dot) || !only_user(found.dot->result(), *yield))
      return updated;
    if (!is_zero(loop->operand(3 + static_cast<int>(found.carried))))
      return "the accumulator does not start from `tl.zeros`";
    return "";
  }

  std::string operands(MatmulLoop& found) {
    for (int i = 0; i < 2; ++i) {
      std::string name = i == 0 ? "`a`" : "`b`";
      const DirectOperand* operand = direct_.operand(*found.dot, i);
      if (!operand || !operand->is_plain() || operand->load->operand(0)->type().rank() != 2)
        return name + " is not a descriptor load of two dimensions that only this product uses";
      if (!operand->at_use)
        return "something is stored between the load of " + name + " and the product";
      const Operation& made = *operand->load->operand(0)->definition();
      if (is_inside(made, *found.loop)) return "the descriptor of " + name + " is made in the loop";
      bool pads_nan = made.has(AttributeName::kPadding) &&
                      made.enumerator<ir::Padding>(AttributeName::kPadding) == ir::Padding::kNan;
      if (pads_nan) return "the descriptor of " + name + " pads with NaN";
      for (int axis = 0; axis < 2; ++axis)
        if (facts_.range(operand->load->operand(1 + axis)).low < 0)
          return "an offset of " + name + " may be negative";
    }
    return "";
  }

  // From the loop's result through elementwise operations to one store.
  std::string epilogue(MatmulLoop& found) {
    std::vector<const Value*> reached = {found.result()};
    for (size_t i = 0; i < reached.size(); ++i)
      for (const Operation* user : reached[i]->users()) {
        if (std::ranges::find(found.epilogue, user) != found.epilogue.end()) continue;
        if (user->parent() != found.loop->parent()) return not_stored();
        if (user->is(Opcode::kDescriptorStore)) {
          if (found.store || user->operand(0) == reached[i]) return not_stored();
          found.store = user;
          continue;
        }
        if (user->record().op_class != OpClass::kElementwise) return not_stored();
        found.epilogue.push_back(user);
        reached.push_back(user->result());
      }
    if (!found.store || found.store->operand(0)->type().rank() != 2) return not_stored();
    for (const Operation* op : found.epilogue)
      for (const Value* operand : op->operands())
        if (std::ranges::find(reached, operand) == reached.end() &&
            !is_known_at_each_element(operand, *found.store))
          return "the epilogue takes a tile that is not computed element by element";
    return "";
  }

  static std::string not_stored() {
    return "the result does not reach a single descriptor store through elementwise operations "
           "only";
  }

  // What one thread can compute of a tile for any element.
  bool is_known_at_each_element(const Value* value, const Operation& store) const {
    if (!value || !value->type().is_tile()) return true;
    const Operation* op = value->definition();
    if (!op || op->is(Opcode::kReshape)) return false;
    switch (op->record().op_class) {
      case OpClass::kSource:
        return true;
      case OpClass::kElementwise:
      case OpClass::kShape:
        break;
      case OpClass::kMemory:
        if (!op->is(Opcode::kLoad) && !op->is(Opcode::kDescriptorLoad)) return false;
        if (!can_wait(*op, store, effects_)) return false;
        break;
      default:
        return false;
    }
    return std::ranges::all_of(op->operands(), [&](const Value* operand) {
      return is_known_at_each_element(operand, store);
    });
  }

  const ir::FunctionOptions& options_;
  const DirectLoads& direct_;
  const analysis::Facts& facts_;
  analysis::MemoryEffects effects_;
};

}  // namespace

MatmulLoops::MatmulLoops(const ir::Function& function, const SimtTarget& target,
                         const DirectLoads& direct, const analysis::Facts& facts) {
  ir::DotBackend backend = function.options().dot_backend;
  bool by_choice = backend == ir::DotBackend::kAuto && target.prefers_matmul2d;
  if (backend != ir::DotBackend::kMpp && !by_choice) return;
  Matcher matcher(function, direct, facts);
  ir::walk(function.body(), [&](const Operation* op) {
    if (!op->is(Opcode::kDot)) return;
    MatmulLoop found;
    std::string failure =
        target.has_matmul2d ? matcher.match(*op, found) : "this GPU or its system has no Metal 4";
    if (!failure.empty()) {
      reasons_[op->id()] = failure;
      return;
    }
    for (const Operation* part : {found.loop, found.dot, found.store})
      by_operation_[part->id()] = loops_.size();
    for (const Operation* part : found.epilogue) absorbed_[part->id()] = true;
    loops_.push_back(std::move(found));
  });
}

const MatmulLoop* MatmulLoops::of(const Operation& op) const {
  auto found = by_operation_.find(op.id());
  return found == by_operation_.end() ? nullptr : &loops_[found->second];
}

bool MatmulLoops::absorbs(const Operation& op) const { return absorbed_.contains(op.id()); }

std::string MatmulLoops::reason(const Operation& dot) const {
  auto found = reasons_.find(dot.id());
  return found == reasons_.end() ? "" : found->second;
}

}  // namespace enceladus::simt
