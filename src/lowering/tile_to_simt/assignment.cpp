#include "lowering/tile_to_simt/assignment.h"

#include <algorithm>
#include <bit>

#include "analysis/cost.h"
#include "lowering/tile_to_simt/access.h"
#include "lowering/tile_to_simt/fragments.h"
#include "lowering/tile_to_simt/warp_parts.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Value;

namespace {

// Arithmetic on cheap tiles stays cheap up to this many operations; a slow one counts for several.
constexpr int kCheapOperations = 24;
constexpr int kSlowCost = 8;
// A tile that is stored as its home has it, not converted, reaches at least this much of memory
// without a gap: a sector of the caches.
constexpr int64_t kCoalescedBytes = 32;

int cost_of(const Operation& op) {
  return analysis::effort_of(op) == analysis::Effort::kPlain ? 1 : kSlowCost;
}

bool is_access(const Operation& op) {
  switch (op.opcode()) {
    case Opcode::kLoad:
    case Opcode::kStore:
    case Opcode::kAtomicRmw:
    case Opcode::kAtomicCas:
      return op.operand(0)->type().is_tile();
    case Opcode::kDescriptorLoad:
    case Opcode::kDescriptorStore:
      return true;
    default:
      return false;
  }
}

}  // namespace

class Assigner {
 public:
  Assigner(const ir::Function& function, const analysis::Facts& facts, const SimtTarget& target,
           const HopperPlan& hopper, Assignment& result)
      : facts_(facts),
        target_(target),
        hopper_(hopper),
        result_(result),
        costs_(function.value_count()) {
    ir::walk(function.body(), [&](Operation* op) {
      if (is_access(*op) && !hopper_.load_of.contains(op)) gather(access_shape(*op, facts_));
    });
    region(function.body());
  }

 private:
  using Key = std::pair<Shape, std::vector<int>>;

  // Accesses of one shape and order share a layout, as wide as its widest vector; the vectors of
  // the largest element keep to 16 bytes.
  struct Group {
    int64_t widest = 1;
    int element_bytes = 1;
  };

  void gather(const AccessShape& access) {
    Group& group = groups_[{access.shape, access.order}];
    group.widest = std::max(group.widest, access.widest());
    group.element_bytes = std::max(group.element_bytes, access.element_bytes);
  }

  LinearLayout coalesced(const AccessShape& access) {
    const Group& group = groups_[{access.shape, access.order}];
    int64_t vector = std::min<int64_t>(group.widest, std::max(1, 16 / group.element_bytes));
    return blocked_layout(access.shape, access.order, log2_of(vector), result_.warp_bits());
  }

  void region(const ir::Region& region) {
    for (Operation* op : region) operation(*op);
  }

  void operation(Operation& op) {
    // What the copy engine loads lies in shared memory, in no thread's registers.
    if (hopper_.load_of.contains(&op)) return;
    if (is_access(op)) return access(op);
    switch (op.record().op_class) {
      case OpClass::kElementwise:
        if (op.result()->type().is_tile()) elementwise(op);
        return;
      case OpClass::kReduction:
        return reduction(op);
      case OpClass::kMatrix:
        return result_.set_home(op.result(), product_layout(op));
      case OpClass::kControl:
        return control(op);
      default:
        return;
    }
  }

  LinearLayout product_layout(const Operation& op) const {
    auto found = hopper_.products.find(&op);
    if (found == hopper_.products.end())
      return accumulator_layout(op, target_, result_.warp_bits());
    return wgmma_layout(op.result()->type().shape(), found->second.group, result_.warp_bits());
  }

  void access(Operation& op) {
    AccessShape access = access_shape(op, facts_);
    if (std::optional<LinearLayout> spread = spread_over_product(op)) {
      result_.set_home(op.result(), *spread);
      result_.accesses_[op.id()] = *spread;
      return;
    }
    std::optional<LinearLayout> offered = offer(op);
    bool scattered = access.contiguity == 1;
    LinearLayout own = coalesced(access);
    LinearLayout chosen = own;
    if (const LinearLayout* direct = result_.direct_.layout(op)) {
      result_.set_home(op.result(), *direct);
      result_.accesses_[op.id()] = *direct;
      return;
    }
    auto reach = [&](const LinearLayout& layout) {
      return coalesced_bytes(access, layout, target_.coalescing);
    };
    if (offered && (scattered || reach(*offered) >= std::min(kCoalescedBytes, reach(own))))
      chosen = *offered;
    for (Value* value : op.results()) result_.set_home(value, chosen);
    result_.accesses_[op.id()] = chosen;
  }

  // Of a vector that is only spread over the result of a product before it, as a bias is: what each
  // thread needs of it. Loading that from the caches costs no more than fetching it from shared
  // memory, and the product's groups need not wait for each other to exchange it.
  std::optional<LinearLayout> spread_over_product(const Operation& load) const {
    if (!hopper_.any() || !load.is(Opcode::kLoad) || load.result()->type().rank() != 1) return {};
    const Value* value = load.result();
    std::vector<const Operation*> shapes;
    const Operation* user = nullptr;
    for (;; value = user->result()) {
      if (value->users().size() != 1) return {};
      user = value->users().front();
      bool spreads = user->is(Opcode::kExpandDims) || user->is(Opcode::kBroadcast);
      if (spreads) shapes.push_back(user);
      if (!spreads && !user->is(Opcode::kCast)) break;
    }
    if (user->record().op_class != OpClass::kElementwise) return {};
    for (const Value* other : user->operands()) {
      std::optional<LinearLayout> layout =
          other && other != value ? result_.preferred(other) : std::nullopt;
      if (!layout || !is_of_product(*layout)) continue;
      for (auto shape = shapes.rbegin(); shape != shapes.rend(); ++shape)
        layout =
            (*shape)->is(Opcode::kBroadcast)
                ? narrow_axes(*layout, (*shape)->operand(0)->type().shape())
                : drop_axis(*layout, static_cast<int>((*shape)->integer(ir::AttributeName::kAxis)));
      return without_free_registers(*layout).layout;
    }
    return {};
  }

  bool is_of_product(const LinearLayout& layout) const {
    return std::ranges::any_of(hopper_.products, [&](const auto& product) {
      return product_layout(*product.first) == layout;
    });
  }

  // The layout in which an access finds operands that are not cheap.
  std::optional<LinearLayout> offer(const Operation& op) {
    int first = op.is(Opcode::kDescriptorStore) ? 1 : 0;
    for (int i = op.operand_count() - 1; i >= first; --i) {
      const Value* value = op.operand(i);
      if (!value || !value->type().is_tile()) continue;
      if (std::optional<LinearLayout> layout = result_.preferred(value)) return layout;
    }
    return std::nullopt;
  }

  void elementwise(Operation& op) {
    int cost = cost_of(op);
    std::optional<LinearLayout> layout;
    bool cheap = true;
    for (const Value* operand : op.operands()) {
      cheap = cheap && is_cheap(operand);
      cost += costs_[operand->id()];
      if (!layout) layout = result_.preferred(operand);
    }
    costs_[op.result()->id()] = cost;
    if (cheap && cost <= kCheapOperations) return;
    costs_[op.result()->id()] = 0;
    if (!layout && depends_on_unknown(op)) {
      unknown_[op.result()] = true;
      return;
    }
    result_.set_home(op.result(), layout ? *layout : own_default(op.result()));
  }

  LinearLayout own_default(const Value* value) const {
    return default_layout(value->type().shape(), result_.warp_bits());
  }

  // Shape operations on something with a home count as having one.
  bool is_cheap(const Value* value) const {
    if (!value->type().is_tile()) return true;
    if (unknown_.contains(value) || result_.home(value)) return false;
    const Operation* op = value->definition();
    if (!op) return false;
    if (op->record().op_class == OpClass::kShape && op->operand(0)->type().is_tile())
      return is_cheap(op->operand(0));
    return true;
  }

  bool depends_on_unknown(const Operation& op) const {
    return std::ranges::any_of(op.operands(), [&](const Value* operand) {
      const Value* value = operand;
      while (value->definition() && value->definition()->record().op_class == OpClass::kShape)
        value = value->definition()->operand(0);
      return unknown_.contains(value);
    });
  }

  void reduction(const Operation& op) {
    int axis = static_cast<int>(op.integer(ir::AttributeName::kAxis));
    std::optional<LinearLayout> layout;
    for (const Value* operand : op.operands())
      if (!layout) layout = result_.preferred(operand);
    if (!layout) layout = own_default(op.operand(0));
    if (op.is(Opcode::kScan) && !suits_scan(*layout, axis)) layout = own_default(op.operand(0));
    result_.accesses_[op.id()] = *layout;
    if (op.is(Opcode::kReduce)) layout = without_free_registers(drop_axis(*layout, axis)).layout;
    for (const Value* value : op.results())
      if (value->type().is_tile()) result_.set_home(value, *layout);
  }

  void control(const Operation& op) {
    if (op.is(Opcode::kIf)) return branch(op);
    if (op.is(Opcode::kFor)) return loop(op, op.operands().subspan(3), 1);
    if (op.is(Opcode::kWhile)) return loop(op, op.operands(), 0);
  }

  void branch(const Operation& op) {
    for (const ir::Region* nested : op.regions()) region(*nested);
    for (int i = 0; i < op.result_count(); ++i) {
      if (!op.result(i)->type().is_tile()) continue;
      std::optional<LinearLayout> layout;
      for (const ir::Region* nested : op.regions())
        if (!layout) layout = result_.preferred(nested->terminator()->operand(i));
      result_.set_home(op.result(i), layout ? *layout : own_default(op.result(i)));
    }
  }

  // First with the loop's variables unknown, to see in which layouts the body leaves them; then
  // with these.
  void loop(const Operation& op, std::span<Value* const> initial, size_t leading) {
    const ir::Region& body = *op.regions().back();
    std::vector<const Value*> unknown;
    for (size_t i = 0; i < initial.size(); ++i) {
      const Value* variable = body.arguments()[leading + i];
      if (!variable->type().is_tile()) continue;
      unknown.push_back(variable);
      unknown_[variable] = true;
      result_.homes_[variable->id()].reset();
    }
    if (!unknown.empty()) region(body);
    for (size_t i = 0; i < initial.size(); ++i) {
      const Value* variable = body.arguments()[leading + i];
      if (!variable->type().is_tile()) continue;
      std::optional<LinearLayout> layout =
          result_.preferred(body.terminator()->operand(static_cast<int>(i)));
      if (!layout) layout = result_.preferred(initial[i]);
      if (!layout) layout = own_default(variable);
      result_.set_home(variable, *layout);
      result_.set_home(op.result(static_cast<int>(i)), *layout);
      if (op.is(Opcode::kWhile)) result_.set_home(op.region(0)->arguments()[i], *layout);
    }
    unknown_.clear();
    for (const ir::Region* nested : op.regions()) region(*nested);
  }

  const analysis::Facts& facts_;
  const SimtTarget& target_;
  const HopperPlan& hopper_;
  Assignment& result_;
  std::vector<int> costs_;  // of cheap values
  std::map<Key, Group> groups_;
  std::map<const Value*, bool> unknown_;
};

Assignment::Assignment(const ir::Function& function, const analysis::Facts& facts,
                       const SimtTarget& target, const HopperPlan& hopper)
    : warp_bits_(log2_of(function.options().num_warps)),
      direct_(function, target, facts, warp_bits_),
      homes_(function.value_count()),
      accesses_(function.operation_count()) {
  Assigner(function, facts, target, hopper, *this);
}

void Assignment::set_home(const Value* tile, LinearLayout layout) {
  homes_[tile->id()] = std::move(layout);
}

const LinearLayout* Assignment::home(const Value* tile) const {
  const std::optional<LinearLayout>& home = homes_[tile->id()];
  return home ? &*home : nullptr;
}

std::optional<LinearLayout> Assignment::preferred(const Value* tile) const {
  if (!tile->type().is_tile()) return std::nullopt;
  if (const LinearLayout* own = home(tile)) return *own;
  const Operation* op = tile->definition();
  if (!op || op->operand_count() == 0) return std::nullopt;
  std::optional<LinearLayout> operand;
  if (op->record().op_class == OpClass::kShape) operand = preferred(op->operand(0));
  if (!operand) return std::nullopt;
  switch (op->opcode()) {
    case Opcode::kExpandDims:
      return insert_axis(*operand, static_cast<int>(op->integer(ir::AttributeName::kAxis)));
    case Opcode::kReshape:
      return reshape(*operand, tile->type().shape());
    case Opcode::kTranspose:
      return permute(*operand, op->integers(ir::AttributeName::kPermutation));
    default:
      return std::nullopt;
  }
}

LinearLayout Assignment::preferred_or_default(const Value* tile) const {
  std::optional<LinearLayout> layout = preferred(tile);
  return layout ? *layout : default_layout(tile->type().shape(), warp_bits_);
}

LinearLayout Assignment::access_layout(const Operation& access) const {
  ENC_CHECK(accesses_[access.id()].has_value());
  return *accesses_[access.id()];
}

namespace {

// Registers that are neighbours along the axis that is contiguous in memory.
int64_t neighbours(const AccessShape& shape, const LinearLayout& layout) {
  std::vector<TileBit> registers = images(layout, Dim::kRegister);
  int bits = 0;
  while (bits < static_cast<int>(registers.size()) &&
         registers[static_cast<size_t>(bits)].axis == shape.order.front() &&
         registers[static_cast<size_t>(bits)].bit == bits)
    ++bits;
  return int64_t{1} << bits;
}

}  // namespace

int access_vector(const Operation& access, const LinearLayout& layout,
                  const analysis::Facts& facts) {
  AccessShape shape = access_shape(access, facts);
  return static_cast<int>(std::min(shape.widest(), neighbours(shape, layout)));
}

int inside_vector(const Operation& access, const LinearLayout& layout,
                  const analysis::Facts& facts) {
  AccessShape shape = access_shape(access, facts);
  shape.uniform = kFragmentGroup;
  return static_cast<int>(
      std::min({shape.widest(), neighbours(shape, layout), int64_t{kFragmentGroup}}));
}

}  // namespace enceladus::simt
