#include "lowering/tile_to_loop/grouping.h"

#include <algorithm>

#include "analysis/effects.h"
#include "lowering/tile_to_loop/pending_group.h"
#include "support/check.h"

namespace enceladus::loop {
namespace {

using ir::Effect;
using ir::Opcode;

bool has_tile_operand(const ir::Operation* op) {
  return std::any_of(op->operands().begin(), op->operands().end(), [](const ir::Value* value) {
    return value != nullptr && value->type().is_tile();
  });
}

bool has_users(const ir::Operation* op) {
  return std::any_of(op->results().begin(), op->results().end(),
                     [](const ir::Value* value) { return value->has_users(); });
}

class Cutter {
 public:
  Cutter(const ir::Function& function, const std::vector<DotLoop>& dot_loops,
         std::vector<char>& is_stored)
      : function_(function),
        dot_loops_(dot_loops),
        is_stored_(is_stored),
        effects_(function),
        order_(function),
        walk_(function, is_stored),
        pending_(effects_, order_, result_.plan.buffer_of) {
    result_.plan.buffer_of.assign(function.value_count(), -1);
  }

  Grouping cut() {
    cut_region(function_.body());
    return std::move(result_);
  }

 private:
  int buffer_for(const ir::Value* value) {
    int& buffer = result_.plan.buffer_of[value->id()];
    if (buffer < 0) {
      buffer = static_cast<int>(result_.plan.buffers.size());
      result_.plan.buffers.push_back({.type = value->type()});
    }
    return buffer;
  }

  void add_item(ItemKind kind, const ir::Operation* op, int group = -1) {
    result_.plan.items[region_].push_back(
        {.kind = kind, .op = const_cast<ir::Operation*>(op), .group = group});
  }

  void flush() {
    if (pending_.is_empty()) return;
    PendingGroup::Finished finished = pending_.take();
    add_item(ItemKind::kGroup, nullptr, static_cast<int>(result_.plan.groups.size()));
    result_.plan.groups.push_back(std::move(finished.group));
    result_.cones.push_back(std::move(finished.cone));
  }

  void store_tile(const ir::Value* value) {
    ENC_CHECK(!is_stored_[value->id()], "a tile in scratch is computed again");
    is_stored_[value->id()] = 1;
    result_.is_final = false;
  }

  // --- roots ------------------------------------------------------------------------------------

  Cone cone_of(const Root& root) {
    Cone cone;
    if (root.is_definition) {
      walk_.add_definition(root.value, cone);
    } else if (root.kind == RootKind::kWrite) {
      walk_.add(root.value, Indexing::kOwn, cone);
    } else if (root.op->is(Opcode::kDevicePrint)) {
      walk_.add(root.op->operand(root.part), Indexing::kOwn, cone);
    } else {
      for (const ir::Value* operand : root.op->operands())
        if (operand != nullptr) walk_.add(operand, Indexing::kOwn, cone);
    }
    walk_.reset();
    return cone;
  }

  // Stores every load of the cone that the root would make too late.
  bool settle_loads(const Cone& cone, const ir::Operation* runs_at) {
    bool stored = false;
    for (const ConeEntry& entry : cone.computed) {
      if (is_stored_[entry.value->id()] || !pending_.is_overwritten(entry, runs_at)) continue;
      store_tile(entry.value);
      stored = true;
    }
    return stored;
  }

  void add_root(const NewRoot& added, const ir::Operation* runs_at) {
    const Cone cone = cone_of(added.root);
    if (!pending_.may_join(added, cone)) flush();
    if (settle_loads(cone, runs_at)) return;  // this cut is thrown away
    pending_.add(added, cone);
    if (added.root.kind == RootKind::kWrite) return;
    for (const ir::Value* value : added.root.op->results())
      if (value->type().is_tile() && value->has_users()) buffer_for(value);
  }

  static std::vector<int64_t> shape_of(const ir::Value* value) {
    return {value->type().shape().begin(), value->type().shape().end()};
  }

  void write_tile(const ir::Value* value, int buffer, const ir::Operation* runs_at) {
    NewRoot added{.root = {.kind = RootKind::kWrite,
                           .value = const_cast<ir::Value*>(value),
                           .buffer = buffer,
                           .is_definition = result_.plan.buffer_of[value->id()] == buffer &&
                                            !must_be_stored(value)},
                  .space = shape_of(value)};
    add_root(added, runs_at);
  }

  void add_effect(ir::Operation* op) {
    // Elements of atomics, prints and assertions stay together, in program order.
    if (op->is(Opcode::kDevicePrint)) return add_print(op);
    const bool alone = !op->is(Opcode::kStore) && !op->is(Opcode::kDescriptorStore);
    if (alone) flush();
    const ir::Value* shaped = op->operand(op->is(Opcode::kDescriptorStore) ? 1 : 0);
    for (const ir::Value* operand : op->operands())
      if (operand != nullptr && operand->type().is_tile()) shaped = operand;
    add_root({.root = {.kind = RootKind::kEffect, .op = op}, .space = shape_of(shaped)}, op);
    if (alone) flush();
  }

  // One value after the other; the scalars among them as tiles of one element.
  void add_print(ir::Operation* op) {
    for (int part = 0; part < op->operand_count(); ++part) {
      flush();
      std::vector<int64_t> shape = shape_of(op->operand(part));
      if (shape.empty()) shape.push_back(1);
      add_root(
          {.root = {.kind = RootKind::kEffect, .op = op, .part = part}, .space = std::move(shape)},
          op);
    }
    flush();
  }

  void add_reduction(ir::Operation* op) {
    if (!has_users(op)) return;
    const bool is_scan = op->is(Opcode::kScan);
    add_root({.root = {.kind = is_scan ? RootKind::kScan : RootKind::kReduce, .op = op},
              .space = shape_of(op->operand(0)),
              .inner_axis = static_cast<int>(op->integer(ir::AttributeName::kAxis)),
              .is_ordered = is_scan,
              .is_reverse = op->integer_or(ir::AttributeName::kReverse, 0) != 0},
             op);
    if (is_scan) flush();
  }

  // --- items ------------------------------------------------------------------------------------

  void add_scalar(ir::Operation* op) {
    const bool depends = std::ranges::any_of(
        op->operands(), [&](const ir::Value* value) { return pending_.gives(value); });
    if (depends || op->record().effect != Effect::kPure) flush();
    add_item(ItemKind::kScalar, op);
  }

  void add_dot(ir::Operation* op) {
    flush();
    add_item(ItemKind::kDot, op);
    buffer_for(op->result());
  }

  // The product adds to the tile that the loop started from, in the buffer of its result.
  void add_dot_loop(const DotLoop& dot_loop) {
    flush();
    const ir::Value* result = dot_loop.loop->result(dot_loop.result);
    const int buffer = buffer_for(result);
    result_.plan.buffer_of[dot_loop.dot->result()->id()] = buffer;  // for its layout
    if (!dot_loop.starts_at_zero)
      write_tile(dot_loop.loop->operand(3 + dot_loop.result), buffer, dot_loop.loop);
    flush();
    add_item(ItemKind::kDotLoop, dot_loop.loop);
    result_.plan.items[region_].back().dot_loop = static_cast<int>(&dot_loop - dot_loops_.data());
  }

  // What a control operation carries lies in one buffer for initial values, arguments, results.
  void add_control(ir::Operation* op) {
    for (const DotLoop& dot_loop : dot_loops_)
      if (dot_loop.loop == op) return add_dot_loop(dot_loop);
    flush();
    const bool is_for = op->is(Opcode::kFor);
    for (const ir::Value* value : op->results()) {
      if (!value->type().is_tile()) continue;
      const int buffer = buffer_for(value);
      const int index = value->index();
      if (op->is(Opcode::kIf)) continue;
      write_tile(op->operand(index + (is_for ? 3 : 0)), buffer, op);
      for (const ir::Region* region : op->regions())
        result_.plan.buffer_of[region->argument(index + (is_for ? 1 : 0))->id()] = buffer;
    }
    flush();
    add_item(ItemKind::kControl, op);
    const ir::Region* outer = region_;
    for (const ir::Region* region : op->regions()) cut_region(*region);
    region_ = outer;
  }

  // Writes what the region yields to the buffers of the operation's results. The values belong to
  // one moment: what would be computed from a buffer that is overwritten by then is stored before.
  // Tiles of one shape follow one another, so that those that change places do it in one group.
  void add_yield(ir::Operation* yield) {
    const ir::Operation* control = yield->parent_operation();
    std::vector<YieldedTile> tiles = yielded_tiles(control, yield);
    for (const YieldedTile& tile : tiles)
      if (must_store_before(tile.value, tiles)) return store_tile(tile.value);
    std::vector<int> overwritten;
    for (const YieldedTile& tile : tiles) {
      write_tile(tile.value, tile.buffer, yield);
      for (const int buffer : overwritten)
        ENC_CHECK(!reads_buffer(tile.value, buffer) || pending_.writes_buffer(buffer),
                  "carried tiles change places in two groups");
      overwritten.push_back(tile.buffer);
    }
    flush();
  }

  struct YieldedTile {
    const ir::Value* value;
    int buffer;
  };

  std::vector<YieldedTile> yielded_tiles(const ir::Operation* control, const ir::Operation* yield) {
    std::vector<YieldedTile> tiles;
    const bool is_condition = control->is(Opcode::kWhile) && yield->parent() == control->region(0);
    if (is_condition) return tiles;
    for (const ir::Value* result : control->results()) {
      const ir::Value* value = yield->operand(result->index());
      const int buffer = result_.plan.buffer_of[result->id()];
      if (result->type().is_tile() && result_.plan.buffer_of[value->id()] != buffer)
        tiles.push_back({value, buffer});
    }
    std::stable_sort(tiles.begin(), tiles.end(), [](const YieldedTile& a, const YieldedTile& b) {
      return std::ranges::lexicographical_compare(a.value->type().shape(), b.value->type().shape());
    });
    return tiles;
  }

  Cone cone_of_value(const ir::Value* value) {
    Cone cone;
    walk_.add(value, Indexing::kOwn, cone);
    walk_.reset();
    return cone;
  }

  bool reads_buffer(const ir::Value* value, int buffer) {
    const Cone cone = cone_of_value(value);
    return std::any_of(cone.stored.begin(), cone.stored.end(), [&](const ConeEntry& entry) {
      return result_.plan.buffer_of[entry.value->id()] == buffer;
    });
  }

  // A tile that reads a buffer which the yield overwrites at another index, or after it.
  bool must_store_before(const ir::Value* value, const std::vector<YieldedTile>& tiles) {
    if (is_stored_[value->id()]) return false;
    const Cone cone = cone_of_value(value);
    return std::any_of(cone.stored.begin(), cone.stored.end(), [&](const ConeEntry& entry) {
      const int buffer = result_.plan.buffer_of[entry.value->id()];
      return std::any_of(tiles.begin(), tiles.end(), [&](const YieldedTile& tile) {
        const bool same_place =
            entry.indexing == Indexing::kOwn &&
            std::ranges::equal(tile.value->type().shape(), value->type().shape());
        return tile.buffer == buffer && !same_place;
      });
    });
  }

  void cut_region(const ir::Region& region) {
    region_ = &region;
    for (ir::Operation* op : region) {
      cut_operation(op);
      region_ = &region;
      if (!result_.is_final) return;
    }
    flush();
  }

  void cut_operation(ir::Operation* op) {
    if (op->is(Opcode::kDebugBarrier) || op->is(Opcode::kMakeDescriptor)) return;
    switch (op->record().op_class) {
      case ir::OpClass::kControl:
        if (!op->is(Opcode::kYield)) return add_control(op);
        if (op->parent_operation() != nullptr) add_yield(op);
        return;
      case ir::OpClass::kReduction:
        return add_reduction(op);
      case ir::OpClass::kMatrix:
        return add_dot(op);
      default:
        break;
    }
    const bool gives_tile = op->result_count() > 0 && op->result()->type().is_tile();
    const Effect effect = op->record().effect;
    if (effect == Effect::kRead || effect == Effect::kPure) {
      if (!gives_tile) return add_scalar(op);
      const ir::Value* value = op->result();
      if (is_stored_[value->id()] && value->has_users()) write_tile(value, buffer_for(value), op);
    } else if (has_tile_operand(op)) {
      add_effect(op);
    } else {
      add_scalar(op);
    }
  }

  const ir::Function& function_;
  const std::vector<DotLoop>& dot_loops_;
  std::vector<char>& is_stored_;
  analysis::MemoryEffects effects_;
  OperationOrder order_;
  ConeWalk walk_;
  const ir::Region* region_ = nullptr;
  Grouping result_;
  PendingGroup pending_;
};

}  // namespace

Grouping cut_into_groups(const ir::Function& function, const std::vector<DotLoop>& dot_loops,
                         std::vector<char>& is_stored) {
  return Cutter(function, dot_loops, is_stored).cut();
}

}  // namespace enceladus::loop
