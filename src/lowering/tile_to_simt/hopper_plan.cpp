#include "lowering/tile_to_simt/hopper_plan.h"

#include <algorithm>

#include "analysis/effects.h"
#include "ir/builder.h"
#include "lowering/tile_to_simt/refusal.h"
#include "support/check.h"

namespace enceladus::simt {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

constexpr int64_t kPanelBytes = 128;
constexpr int64_t kMostSlots = 8;

// The instruction's names of the operands' types; empty where it has none for the sum's type.
std::string input_name(const Operation& dot) {
  DType a = dot.operand(0)->type().dtype(), b = dot.operand(1)->type().dtype();
  DType sum = dot.operand(2)->type().dtype();
  auto float8 = [](DType dtype) { return dtype == DType::kFloat8E4M3 ? "e4m3" : "e5m2"; };
  if (is_float8(a) && is_float8(b) && sum == DType::kFloat32)
    return a == b ? float8(a) : std::string(float8(a)) + "." + float8(b);
  if (a != b) return {};
  if (a == DType::kInt8 && sum == DType::kInt32) return "s8";
  if (a == DType::kUInt8 && sum == DType::kInt32) return "u8";
  if (sum != DType::kFloat32) return {};
  if (a == DType::kFloat16) return "f16";
  if (a == DType::kBFloat16) return "bf16";
  bool rounds = dot.integer_or(AttributeName::kInputPrecision, 0) ==
                static_cast<int64_t>(ir::InputPrecision::kTf32);
  return a == DType::kFloat32 && rounds ? "tf32" : "";
}

struct Source {
  const Operation* load = nullptr;  // null where the operand is no load of its own
  bool is_transposed = false;
};

// From an operand of a dot back to a descriptor load that serves it alone.
Source find_load(const Value* operand) {
  Source source;
  for (;;) {
    const Operation* op = operand->definition();
    if (!op || operand->users().size() != 1) return {};
    if (op->is(Opcode::kDescriptorLoad)) {
      source.load = op;
      return source;
    }
    if (!op->is(Opcode::kTranspose)) return {};
    source.is_transposed = !source.is_transposed;
    operand = op->operand(0);
  }
}

bool is_inside(const Operation* op, const ir::Region* region) {
  for (const ir::Region* around = op->parent(); around;) {
    if (around == region) return true;
    const Operation* parent = around->parent();
    around = parent ? parent->parent() : nullptr;
  }
  return false;
}

class Planner {
 public:
  Planner(const ir::Function& function, const analysis::Facts& facts)
      : function_(function),
        facts_(facts),
        forms_(function, analysis::AffineForms::Meaning::kExact, &facts),
        effects_(function),
        slicer_(function, effects_) {
    int position = 0;
    ir::walk(function.body(), [&](const Operation* op) { positions_[op] = position++; });
  }

  HopperPlan run() {
    warp_bits_ = log2_of(function_.options().num_warps);
    plan_.groups = function_.options().num_warps / kGroupWarps;
    for_each(Opcode::kDot, [&](const Operation& op) { product(op); });
    if (!plan_.any()) return std::move(plan_);
    for (auto& [dot, product] : plan_.products)
      if (!product.running_in) let_run_on(*dot, product);
    for (auto& [dot, product] : plan_.products) start_late(*dot, product);
    for (const auto& [dot, product] : plan_.products) free_early(*dot, product);
    for_each(Opcode::kDescriptorStore, [&](const Operation& op) { store(op); });
    plan_.walks_grid = may_walk_grid();
    plan_.is_uneven = is_uneven();
    plan_.slice = slicer_.slice();
    return std::move(plan_);
  }

 private:
  template <typename Plan>
  void for_each(Opcode opcode, const Plan& plan) {
    ir::walk(function_.body(), [&](const Operation* op) {
      if (!op->is(opcode)) return;
      try {
        plan(*op);
      } catch (const Refusal& refusal) {
        plan_.reasons[op] = refusal.reason;
      }
    });
  }

  void product(const Operation& dot) {
    const ir::Type& a = dot.operand(0)->type();
    const ir::Type& sum = dot.result()->type();
    require(a.rank() == 2, "the product is batched");
    WgmmaPlan product;
    product.input = input_name(dot);
    require(!product.input.empty(), "wgmma has no such types");
    // The units add floats of 8 bits with fewer bits than float32 has, over the whole loop.
    int64_t imprecise = dot.integer_or(AttributeName::kMaxNumImpreciseAcc, a.extent(1) + 1);
    require(!is_float8(a.dtype()) || imprecise > a.extent(1),
            "max_num_imprecise_acc asks for sums that wgmma does not make of 8-bit floats");
    require(plan_.groups == 1 || plan_.groups == 2, "it needs 4 or 8 warps");
    std::optional<GroupTile> group = group_tile(sum.extent(0), sum.extent(1), warp_bits_);
    require(group.has_value(), "its groups of 64 rows take no such tile, or too many registers");
    product.group = *group;
    require(group->rows == kGroupRows || is_narrowed(dot),
            "its groups of more than 64 rows are not stored with 16 bits");
    int64_t depth = a.extent(1) * byte_size(a.dtype());
    require(depth % kInstructionBytes == 0, "its depth is less than 32 bytes");
    std::vector<RingLoad> loads;
    Source b = find_load(dot.operand(1)), left = find_load(dot.operand(0));
    require(b.load != nullptr, "b is not a descriptor load that it alone uses");
    product.b.along_depth = b.is_transposed;
    loads.push_back(ring_load(dot, b, 1, product));
    if (left.load) {
      product.a.along_depth = !left.is_transposed;
      try {
        loads.push_back(ring_load(dot, left, 0, product));
      } catch (const Refusal& refusal) {
        plan_.reasons[left.load] = refusal.reason;
        left.load = nullptr;
      }
    }
    require(left.load || byte_size(a.dtype()) == 2, "a in registers has not 16 bits");
    product.b.load = add(loads.front());
    if (left.load) product.a.load = add(loads.back());
    assign_rings(dot, product);
    plan_.products[&dot] = product;
  }

  // Whether all that comes of the sum are numbers of 16 bits. Where several blocks of 64 rows are
  // used otherwise, ptxas moves some of the sums while the products run, and reads them too early
  // (NVRTC 13.0 and 13.5, message C7517; seen in the machine code and as wrong sums).
  static bool is_narrowed(const Operation& dot) {
    const Value* sum = dot.result();
    if (sum->users().size() == 1 && sum->users().front()->is(Opcode::kYield)) {
      const Operation* yield = sum->users().front();
      const Operation* loop = yield->parent_operation();
      if (!loop || !loop->is(Opcode::kFor)) return false;
      auto slot = std::ranges::find(yield->operands(), sum) - yield->operands().begin();
      sum = loop->result(static_cast<int>(slot));
    }
    return std::ranges::all_of(sum->users(), [](const Operation* user) {
      return user->is(Opcode::kCast) && byte_size(user->result()->type().dtype()) == 2;
    });
  }

  // `side`: 0 for A, 1 for B.
  RingLoad ring_load(const Operation& dot, const Source& source, int side,
                     const WgmmaPlan& product) {
    const ir::Type& block = source.load->result()->type();
    bool along_depth = side == 0 ? product.a.along_depth : product.b.along_depth;
    int bytes = byte_size(block.dtype());
    require(along_depth || bytes == 2,
            side == 0 ? "only 16-bit operands may be transposed: load a by rows"
                      : "only 16-bit operands may lie by rows: load b as [N, K] and transpose it");
    std::optional<layout::SwizzledTile> tile =
        layout::swizzled_tile(block.extent(0), block.extent(1), bytes);
    require(tile.has_value(), "an operand's rows are shorter than 32 bytes or more than 256");
    require(along_depth || tile->row_bytes() == kPanelBytes,
            "an operand's rows across the depth are shorter than 128 bytes");
    if (side == 1 && product.group.splits_columns && !along_depth)
      require(product.group.columns % tile->panel_columns() == 0, "a group has half a panel of b");
    RingLoad load;
    load.load = source.load;
    load.tile = *tile;
    TensorMapMatch match = match_tensor_map(*source.load, forms_, facts_);
    if (!match.plan) throw Refusal{match.reason};
    load.map = std::move(*match.plan);
    require_no_write_before(*source.load);
    require_loads_before_use(*source.load, dot);
    std::string obstacle = slicer_.add(*source.load, load.map.coordinates);
    if (!obstacle.empty()) throw Refusal{obstacle};
    return load;
  }

  // Whether `later` never runs before `op` within a program: it stands behind it, in no loop with
  // it.
  bool is_behind(const Operation& later, const Operation& op) const {
    if (positions_.at(&later) <= positions_.at(&op)) return false;
    for (const Operation* around = op.parent_operation(); around;
         around = around->parent_operation())
      if (!around->is(Opcode::kIf) && is_inside(&later, around->region(0))) return false;
    return true;
  }

  void require_no_write_before(const Operation& load) {
    ir::walk(function_.body(), [&](const Operation* op) {
      if (analysis::writes_memory(*op) && effects_.may_alias(load, *op))
        require(is_behind(*op, load), "the kernel may write to what it loads");
    });
  }

  // A copy out is in no order with what follows it.
  void store(const Operation& op) {
    int bytes = byte_size(op.operand(1)->type().dtype());
    require(bytes == 2 || bytes == 4, "its elements have not 16 or 32 bits");
    ir::walk(function_.body(), [&](const Operation* other) {
      if (other != &op && effects_.may_alias(op, *other))
        require(is_behind(op, *other), "the kernel may use the array behind the store");
    });
    TensorMapMatch match = match_tensor_map(op, forms_, facts_);
    if (!match.plan) throw Refusal{match.reason};
    plan_.stores[&op] = std::move(*match.plan);
  }

  // The product lies in the load's region or below, so that it is run for each load at most ...
  void require_loads_before_use(const Operation& load, const Operation& dot) {
    require(is_inside(&dot, load.parent()), "a load stands in another branch");
  }

  int add(RingLoad& load) {
    auto found = plan_.load_of.find(load.load);
    ENC_CHECK(found == plan_.load_of.end());
    int index = static_cast<int>(plan_.loads.size());
    plan_.load_of[load.load] = index;
    plan_.loads.push_back(std::move(load));
    return index;
  }

  void assign_rings(const Operation& dot, WgmmaPlan& product) {
    RingPlan shared;
    shared.taken_by_product = true;
    for (int index : {product.a.load, product.b.load}) {
      if (index < 0) continue;
      if (plan_.loads[static_cast<size_t>(index)].load->parent() == dot.parent())
        place(index, shared);
      else
        add_outer_ring(index);
    }
    if (shared.loads.empty()) return;
    if (product.a.load >= 0 && is_running(dot)) {
      product.running_in = dot.parent_operation();
      shared.slots = 2;
    }
    const Operation* loop = dot.parent_operation();
    int64_t stages = loop ? loop->integer_or(AttributeName::kNumStages, 0) : 0;
    if (stages == 0) stages = function_.options().num_stages;
    shared.most_slots = stages > 0 ? stages : kMostSlots;
    add_ring(std::move(shared));
  }

  void add_outer_ring(int index) {
    RingPlan ring;
    place(index, ring);
    add_ring(std::move(ring));
  }

  void place(int index, RingPlan& ring) {
    RingLoad& load = plan_.loads[static_cast<size_t>(index)];
    load.offset = ring.bytes;
    int64_t bytes = load.tile.bytes();
    ring.bytes += (bytes + kPanelAlignment - 1) / kPanelAlignment * kPanelAlignment;
    ring.loads.push_back(index);
  }

  void add_ring(RingPlan ring) {
    std::ranges::sort(ring.loads, [&](int a, int b) {
      return positions_.at(plan_.loads[static_cast<size_t>(a)].load) <
             positions_.at(plan_.loads[static_cast<size_t>(b)].load);
    });
    for (int index : ring.loads)
      plan_.loads[static_cast<size_t>(index)].ring = static_cast<int>(plan_.rings.size());
    plan_.rings.push_back(std::move(ring));
  }

  // Whether the loop carries the sum and only the product touches it.
  bool is_running(const Operation& dot) const {
    const Operation* loop = dot.parent_operation();
    const Value* sum = dot.operand(2);
    if (!loop || !loop->is(Opcode::kFor) || sum->argument_of() != loop->region(0)) return false;
    if (sum->index() == 0 || sum->users().size() != 1 || dot.result()->users().size() != 1)
      return false;
    return loop->region(0)->terminator()->operand(sum->index() - 1) == dot.result();
  }

  // A product whose sum the loop carries through other operations, too.
  void let_run_on(const Operation& dot, WgmmaPlan& product) {
    const Operation* loop = dot.parent_operation();
    if (!loop || !loop->is(Opcode::kFor) || dot.result()->users().size() != 1) return;
    const ir::Region& body = *loop->region(0);
    const Operation* yield = body.terminator();
    const auto& yielded = yield->operands();
    auto found = std::ranges::find(yielded, dot.result());
    int ring = plan_.loads[static_cast<size_t>(product.b.load)].ring;
    RingPlan& slots = plan_.rings[static_cast<size_t>(ring)];
    if (found == yielded.end() || !slots.taken_by_product) return;
    const Value* sum = body.argument(1 + static_cast<int>(found - yielded.begin()));
    int first_use = positions_.at(&dot);
    for (const Operation* user : sum->users()) first_use = std::min(first_use, positions_.at(user));
    for (const auto& [other, its] : plan_.products) {
      if (other == &dot || other->parent() != &body || its.running_in) continue;
      if (positions_.at(other) >= first_use) continue;
      product.running_in = loop;
      product.waits_with = other;
      slots.slots = std::max<int64_t>(slots.slots, 2);
      return;
    }
  }

  // Alone in its loop, with an operand from registers that the turn computes behind `waits_with`:
  // as the values of attention, which then are multiplied while the next scores are worked on.
  void start_late(const Operation& dot, WgmmaPlan& product) {
    if (!product.waits_with || product.a.load >= 0) return;
    for (const auto& [other, its] : plan_.products)
      if (other != &dot && its.running_in == product.running_in) return;
    const ir::Region& body = *product.running_in->region(0);
    const Operation* made = dot.operand(0)->definition();
    if (!made || made->parent() != &body) return;
    if (positions_.at(made) < positions_.at(product.waits_with)) return;
    const auto& yielded = body.terminator()->operands();
    auto slot = std::ranges::find(yielded, dot.result()) - yielded.begin();
    const Operation* first = made;
    for (const Operation* user : body.argument(1 + static_cast<int>(slot))->users()) {
      while (user->parent() != &body) user = user->parent_operation();
      if (positions_.at(user) < positions_.at(first)) first = user;
    }
    product.done_before = first;
  }

  // What was loaded before a loop for a product that is waited for in it: the producer may load the
  // next program's while the last turn goes on.
  void free_early(const Operation& dot, const WgmmaPlan& product) {
    const Operation* loop = dot.parent_operation();
    if (product.running_in || !loop || !loop->is(Opcode::kFor)) return;
    std::optional<int64_t> step = ir::constant_integer(loop->operand(2));
    if (!step || *step <= 0 || loop->operand(2)->type().dtype() != DType::kInt32) return;
    for (int index : {product.a.load, product.b.load}) {
      if (index < 0) continue;
      const RingLoad& load = plan_.loads[static_cast<size_t>(index)];
      RingPlan& ring = plan_.rings[static_cast<size_t>(load.ring)];
      if (!ring.taken_by_product && load.load->parent() == loop->parent()) ring.freed_in = loop;
    }
  }

  // Programs of a grid have no order, so that one may run behind another in the same place; not
  // where they could wait for each other.
  bool may_walk_grid() const {
    bool waits = false;
    ir::walk(function_.body(), [&](const Operation* op) {
      waits |= op->is(Opcode::kWhile) || op->is(Opcode::kAtomicRmw) || op->is(Opcode::kAtomicCas) ||
               op->integer_or(AttributeName::kVolatile, 0) != 0;
    });
    return !waits;
  }

  // Whether a loop that loads ends where the program's place along axis 0 says, as in causal
  // attention.
  bool is_uneven() const {
    return std::ranges::any_of(plan_.loads, [&](const RingLoad& load) {
      for (const Operation* loop = load.load->parent_operation(); loop;
           loop = loop->parent_operation())
        if (loop->is(Opcode::kFor) &&
            (comes_from_axis_0(loop->operand(0)) || comes_from_axis_0(loop->operand(1))))
          return true;
      return false;
    });
  }

  static bool comes_from_axis_0(const Value* scalar) {
    const Operation* op = scalar->definition();
    if (!op) return false;
    if (op->is(Opcode::kProgramId)) return op->integer(AttributeName::kAxis) == 0;
    return op->regions().empty() && std::ranges::any_of(op->operands(), [](const Value* operand) {
             return operand && comes_from_axis_0(operand);
           });
  }

  const ir::Function& function_;
  const analysis::Facts& facts_;
  analysis::AffineForms forms_;
  analysis::MemoryEffects effects_;
  Slicer slicer_;
  std::map<const Operation*, int> positions_;
  int warp_bits_ = 0;
  HopperPlan plan_;
};

}  // namespace

HopperPlan plan_hopper(const ir::Function& function, const analysis::Facts& facts) {
  return Planner(function, facts).run();
}

}  // namespace enceladus::simt
