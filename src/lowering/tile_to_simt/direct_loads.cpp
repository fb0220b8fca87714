#include "lowering/tile_to_simt/direct_loads.h"

#include <algorithm>

#include "lowering/tile_to_simt/fragments.h"

namespace enceladus::simt {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

bool moves_no_element(const Operation& op) {
  if (op.is(Opcode::kTranspose)) return true;
  if (!op.is(Opcode::kReshape)) return false;
  auto wide = [](const ir::Type& type) {
    Shape extents(type.shape().begin(), type.shape().end());
    std::erase(extents, 1);
    return extents;
  };
  Shape from = wide(op.operand(0)->type());
  // With a matrix axis of 1 it would not be clear which one it is.
  return from.size() == 2 && from == wide(op.result()->type());
}

// One tile, element by element, and nothing that is dear to do once a warp.
bool computes_of_one_tile(const Operation& op) {
  switch (op.opcode()) {
    case Opcode::kCast:
    case Opcode::kBitcast:
    case Opcode::kNeg:
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
      break;
    default:
      return false;
  }
  return std::ranges::count_if(op.operands(),
                               [](const Value* operand) { return !same_everywhere(operand); }) == 1;
}

const Value* tile_of(const Operation& op) {
  for (const Value* operand : op.operands())
    if (!same_everywhere(operand)) return operand;
  return op.operand(0);
}

bool is_block(const Operation& load, PointerBlocks& blocks) {
  if (load.is(Opcode::kLoad)) return blocks.of(load) != nullptr;
  if (!load.is(Opcode::kDescriptorLoad)) return false;
  bool whole = std::ranges::equal(load.operand(0)->type().shape(), load.result()->type().shape());
  const Operation* made = load.operand(0)->definition();
  return whole && made && made->is(Opcode::kMakeDescriptor);
}

// The load behind the operand and the operations between, the nearest to the dot first.
struct Chain {
  const Operation* load = nullptr;
  std::vector<const Operation*> between;
};

Chain chain_of(const Value* value, PointerBlocks& blocks) {
  Chain chain;
  while (value->users().size() == 1 && value->definition()) {
    const Operation* op = value->definition();
    if (is_block(*op, blocks)) {
      chain.load = op;
      return chain;
    }
    if (!moves_no_element(*op) && !computes_of_one_tile(*op)) return chain;
    chain.between.push_back(op);
    value = tile_of(*op);
  }
  return chain;
}

// Which axis of the operand's input each of `axes` of its result is.
std::array<int, 2> before(const Operation& op, std::array<int, 2> axes) {
  if (op.record().op_class == ir::OpClass::kElementwise) return axes;
  if (op.is(Opcode::kTranspose)) {
    std::span<const int64_t> permutation = op.integers(AttributeName::kPermutation);
    for (int& axis : axes) axis = static_cast<int>(permutation[static_cast<size_t>(axis)]);
    return axes;
  }
  std::vector<int> wide;
  const ir::Type& input = op.operand(0)->type();
  for (int axis = 0; axis < input.rank(); ++axis)
    if (input.extent(axis) > 1) wide.push_back(axis);
  return axes[0] < axes[1] ? std::array{wide[0], wide[1]} : std::array{wide[1], wide[0]};
}

LinearLayout before(const Operation& op, const LinearLayout& layout) {
  if (op.record().op_class == ir::OpClass::kElementwise) return layout;
  if (op.is(Opcode::kTranspose))
    return permute(layout, inverse_permutation(op.integers(AttributeName::kPermutation)));
  return reshape(layout, op.operand(0)->type().shape());
}

bool writes_within(const Operation& op, const Operation& load,
                   const analysis::MemoryEffects& effects) {
  if (analysis::writes_memory(op) && effects.may_alias(op, load)) return true;
  for (const ir::Region* region : op.regions())
    for (const Operation* nested : *region)
      if (writes_within(*nested, load, effects)) return true;
  return false;
}

}  // namespace

bool can_wait(const Operation& load, const Operation& user,
              const analysis::MemoryEffects& effects) {
  if (load.parent() != user.parent()) return false;
  for (const Operation* op = load.next(); op && op != &user; op = op->next())
    if (writes_within(*op, load, effects)) return false;
  return true;
}

DirectLoads::DirectLoads(const ir::Function& function, const SimtTarget& target,
                         const analysis::Facts& facts, int warp_bits) {
  if (!target.direct_fragments) return;
  analysis::MemoryEffects effects(function);
  PointerBlocks blocks(function, facts);
  ir::walk(function.body(), [&](const Operation* op) {
    if (!op->is(Opcode::kDot)) return;
    std::optional<MatrixUse> use = target.matrix_use(*op);
    if (!use) return;
    FragmentLayouts layouts = fragment_layouts(*op, *use->instruction, warp_bits);
    find(*op, 0, layouts.a, effects, blocks);
    find(*op, 1, layouts.b, effects, blocks);
  });
}

void DirectLoads::find(const Operation& dot, int operand, const LinearLayout& fragments,
                       const analysis::MemoryEffects& effects, PointerBlocks& blocks) {
  Chain chain = chain_of(dot.operand(operand), blocks);
  if (!chain.load) return;
  LinearLayout layout = without_free_registers(fragments).layout;
  DirectOperand direct{.load = chain.load, .axes = {0, 1}};
  bool is_matrix = dot.operand(operand)->type().rank() == 2;
  for (const Operation* op : chain.between) {
    layout = before(*op, layout);
    if (is_matrix) direct.axes = before(*op, direct.axes);
    if (op->record().op_class == ir::OpClass::kElementwise)
      direct.computed.insert(direct.computed.begin(), op);
  }
  direct.at_use = is_matrix && can_wait(*chain.load, dot, effects);
  layouts_.emplace(chain.load->id(), std::move(layout));
  if (direct.at_use) {
    at_use_.insert(chain.load->id());
    for (const Operation* op : direct.computed) at_use_.insert(op->id());
  }
  operands_[{dot.id(), operand}] = std::move(direct);
}

const DirectOperand* DirectLoads::operand(const Operation& dot, int operand) const {
  auto found = operands_.find({dot.id(), operand});
  return found == operands_.end() ? nullptr : &found->second;
}

const LinearLayout* DirectLoads::layout(const Operation& load) const {
  auto found = layouts_.find(load.id());
  return found == layouts_.end() ? nullptr : &found->second;
}

bool DirectLoads::reads_at_use(const Operation& dot) const {
  const DirectOperand* left = operand(dot, 0);
  const DirectOperand* right = operand(dot, 1);
  return (left && left->at_use) || (right && right->at_use);
}

bool DirectLoads::is_read_at_use(const Operation& op) const { return at_use_.contains(op.id()); }

}  // namespace enceladus::simt
