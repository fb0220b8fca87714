#include "lowering/tile_to_loop/plan.h"

#include <algorithm>

#include "ir/builder.h"
#include "lowering/tile_to_loop/grouping.h"
#include "lowering/tile_to_loop/placement.h"

namespace enceladus::loop {
namespace {

using ir::Opcode;

// Above this many simple instructions, a tile that several groups need is kept in scratch (about
// what a store and the loads cost, with the cache lines that they take from others).
constexpr int kRecomputeLimit = 10;
// A use in a loop counts as this many.
constexpr int kLoopWeight = 4;

std::vector<char> tiles_always_in_scratch(const ir::Function& function) {
  std::vector<char> is_stored(function.value_count(), 0);
  auto mark = [&](const ir::Value* value) {
    if (value->type().is_tile()) is_stored[value->id()] = 1;
  };
  ir::walk(function.body(), [&](const ir::Operation* op) {
    for (const ir::Value* result : op->results())
      if (must_be_stored(result)) mark(result);
    for (const ir::Region* region : op->regions())
      if (!op->is(Opcode::kReduce) && !op->is(Opcode::kScan))
        for (const ir::Value* argument : region->arguments()) mark(argument);
    if (op->is(Opcode::kDot)) {
      mark(dot_tile(op->operand(0)).tile);
      mark(dot_tile(op->operand(1)).tile);
      if (ir::constant_bits(op->operand(2)) != uint64_t{0}) mark(op->operand(2));
    }
    if (op->integer_or(ir::AttributeName::kVolatile, 0) != 0) mark(op->result());
  });
  return is_stored;
}

// Long chains of operations (loops that were unrolled while compiling) are cut here and there: the
// walks over a tile's operands recurse.
void cut_long_chains(const ir::Function& function, std::vector<char>& is_stored) {
  constexpr int kLongestChain = 300;
  std::vector<int> lengths(function.value_count(), 0);
  ir::walk(function.body(), [&](const ir::Operation* op) {
    int longest = 0;
    for (const ir::Value* operand : op->operands())
      if (operand != nullptr) longest = std::max(longest, lengths[operand->id()]);
    for (const ir::Value* result : op->results()) {
      if (!result->type().is_tile() || is_stored[result->id()]) continue;
      lengths[result->id()] = longest + 1;
      if (longest < kLongestChain || result->type().is_pointer()) continue;
      is_stored[result->id()] = 1;
      lengths[result->id()] = 0;
    }
  });
}

int loop_depth(const ir::Region* region) {
  int depth = 0;
  for (const ir::Operation* op = region->parent(); op != nullptr; op = op->parent()->parent())
    if (!op->is(Opcode::kIf)) ++depth;
  return depth;
}

// Chooses tiles that it is dearer to compute again than to keep.
class RecomputeChoice {
 public:
  RecomputeChoice(const ir::Function& function, const Grouping& grouping,
                  std::vector<char>& is_stored)
      : grouping_(grouping),
        is_stored_(is_stored),
        walk_(function, is_stored),
        uses_(function.value_count(), 0),
        is_covered_(function.value_count(), 0),
        positions_(function.value_count(), 0) {
    int position = 0;
    ir::walk(function.body(), [&](const ir::Operation* op) {
      for (const ir::Value* result : op->results()) positions_[result->id()] = position++;
    });
    for (const auto& [region, items] : grouping.plan.items)
      for (const Item& item : items)
        if (item.kind == ItemKind::kGroup) count_uses(grouping.cones[item.group], region);
    std::sort(candidates_.begin(), candidates_.end(), [&](const ir::Value* a, const ir::Value* b) {
      return positions_[a->id()] < positions_[b->id()];
    });
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
  }

  // Whether it chose any.
  bool choose() {
    bool chose = false;
    for (auto value = candidates_.rbegin(); value != candidates_.rend(); ++value) {
      if (uses_[(*value)->id()] < 2 || is_covered_[(*value)->id()]) continue;
      const Cone cone = cone_of(*value);
      if (recompute_cost(cone) <= kRecomputeLimit) continue;
      for (const ConeEntry& entry : cone.computed) is_covered_[entry.value->id()] = 1;
      is_stored_[(*value)->id()] = 1;
      chose = true;
    }
    return chose;
  }

 private:
  Cone cone_of(const ir::Value* value) {
    Cone cone;
    walk_.add_definition(value, cone);
    walk_.reset();
    return cone;
  }

  void count_uses(const Cone& cone, const ir::Region* region) {
    std::vector<const ir::Value*> counted;
    for (const ConeEntry& entry : cone.computed) {
      const ir::Value* value = entry.value;
      if (is_stored_[value->id()]) continue;
      if (repeats_rows(value)) ++uses_[value->definition()->operand(0)->id()];
      if (std::find(counted.begin(), counted.end(), value) != counted.end()) continue;
      counted.push_back(value);
      const int depth = loop_depth(region) - loop_depth(value->definition()->parent());
      uses_[value->id()] += depth > 0 ? kLoopWeight : 1;
      candidates_.push_back(value);
    }
  }

  // A broadcast whose operand would be computed once for each row of the result.
  static bool repeats_rows(const ir::Value* value) {
    const ir::Operation* op = value->definition();
    if (!op->is(Opcode::kBroadcast)) return false;
    const auto from = op->operand(0)->type().shape(), to = value->type().shape();
    for (size_t axis = 0; axis + 1 < to.size(); ++axis)
      if (from[axis] != to[axis]) return true;
    return false;
  }

  const Grouping& grouping_;
  std::vector<char>& is_stored_;
  ConeWalk walk_;
  std::vector<int> uses_;
  std::vector<const ir::Value*> candidates_;  // in the order of their definition
  std::vector<char> is_covered_;              // by Value::id(): computed for a chosen tile
  std::vector<int> positions_;                // by Value::id(): the order of definition
};

struct Loops {
  std::vector<DotLoop> dot_loops;
  std::vector<RefusedLoop> refused;
};

// Looks at the loops that hold a product themselves, not in a loop of their own.
Loops find_dot_loops(const ir::Function& function) {
  std::vector<ir::Operation*> around;
  ir::walk(function.body(), [&](ir::Operation* op) {
    ir::Operation* parent = op->parent_operation();
    const bool is_inside = op->is(Opcode::kDot) && parent != nullptr && parent->is(Opcode::kFor);
    if (is_inside && std::ranges::find(around, parent) == around.end()) around.push_back(parent);
  });
  Loops loops;
  if (around.empty()) return loops;
  const analysis::Facts facts(function);
  analysis::AffineForms forms(function, analysis::AffineForms::Meaning::kExact, &facts);
  for (ir::Operation* loop : around) {
    DotLoopMatch match = match_dot_loop(loop, forms, facts);
    // Debugging checks every load of its own.
    if (function.options().debug) match = {std::nullopt, "debugging is on"};
    if (match.plan)
      loops.dot_loops.push_back(std::move(*match.plan));
    else
      loops.refused.push_back({loop, std::move(match.reason)});
  }
  return loops;
}

}  // namespace

DotTile dot_tile(const ir::Value* operand) {
  DotTile result{operand, false};
  for (;;) {
    const ir::Operation* op = result.tile->definition();
    if (op == nullptr || !op->is(Opcode::kTranspose)) return result;
    const auto permutation = op->integers(ir::AttributeName::kPermutation);
    const auto last = static_cast<int64_t>(permutation.size()) - 1;
    const bool swaps_last = last == 1 || (last == 2 && permutation[0] == 0);
    if (!swaps_last || permutation[static_cast<size_t>(last)] != last - 1) return result;
    result = {op->operand(0), !result.is_transposed};
  }
}

Plan make_plan(const ir::Function& function, const DotTileLayout& dot_layout) {
  std::vector<char> is_stored = tiles_always_in_scratch(function);
  cut_long_chains(function, is_stored);
  Loops loops = find_dot_loops(function);
  for (;;) {
    Grouping grouping = cut_into_groups(function, loops.dot_loops, is_stored);
    if (!grouping.is_final) continue;
    if (RecomputeChoice(function, grouping, is_stored).choose()) continue;
    grouping.plan.dot_loops = std::move(loops.dot_loops);
    grouping.plan.refused_loops = std::move(loops.refused);
    place_buffers(grouping, function, dot_layout);
    return std::move(grouping.plan);
  }
}

}  // namespace enceladus::loop
