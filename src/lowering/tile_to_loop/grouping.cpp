#include "lowering/tile_to_loop/grouping.h"

#include <algorithm>

#include "analysis/effects.h"
#include "lowering/tile_to_loop/aliasing.h"
#include "support/check.h"

namespace enceladus::loop {
namespace {

using ir::Effect;
using ir::Opcode;

bool writes_memory(const ir::Operation* op) { return analysis::writes_memory(*op); }

bool is_load(const ir::Operation* op) { return op->record().effect == Effect::kRead; }

bool has_tile_operand(const ir::Operation* op) {
  return std::any_of(op->operands().begin(), op->operands().end(), [](const ir::Value* value) {
    return value != nullptr && value->type().is_tile();
  });
}

bool has_users(const ir::Operation* op) {
  return std::any_of(op->results().begin(), op->results().end(),
                     [](const ir::Value* value) { return value->has_users(); });
}

// Bytes of an element in a register (float16 and bfloat16 are held as float32). Pointers and
// integers that are mere indices do not count: they are rarely vectors.
int element_width(const ir::Type& type) {
  if (type.is_pointer()) return 1;
  return is_float(type.dtype()) ? std::max(byte_size(type.dtype()), 4) : byte_size(type.dtype());
}

int widest_element(const Group& group, const Cone& cone) {
  int widest = 1;
  auto note = [&](const ir::Value* value) {
    if (value != nullptr && value->type().is_number())
      widest = std::max(widest, element_width(value->type()));
  };
  for (const ConeEntry& entry : cone.computed)
    if (entry.value->type().is_float() || is_load(entry.value->definition())) note(entry.value);
  for (const ConeEntry& entry : cone.stored) note(entry.value);
  for (const Root& root : group.roots) {
    note(root.value);
    if (root.op != nullptr)
      for (const ir::Value* operand : root.op->operands()) note(operand);
  }
  return widest;
}

bool contains(const std::vector<const ir::Value*>& values, const ir::Value* value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

class Cutter {
 public:
  Cutter(const ir::Function& function, const std::vector<DotLoop>& dot_loops,
         std::vector<char>& is_stored)
      : function_(function),
        dot_loops_(dot_loops),
        is_stored_(is_stored),
        effects_(function),
        walk_(function, is_stored) {
    positions_.resize(function.operation_count());
    ends_.resize(function.operation_count());
    number_positions(function.body());
    result_.plan.buffer_of.assign(function.value_count(), -1);
  }

  Grouping cut() {
    cut_region(function_.body());
    return std::move(result_);
  }

 private:
  // What a root must know of the group that is being filled.
  struct Pending {
    Group group;
    Cone cone;
    std::vector<const ir::Value*> produced;  // by the group, not to be read by it
    std::vector<const ir::Value*> written;   // tiles that it writes at its own index
    std::vector<int> buffers;                // that it writes
    std::vector<const ir::Operation*> writes;
    bool is_closed = false;  // takes no more roots
  };

  struct NewRoot {
    Root root;
    std::vector<int64_t> space;
    int inner_axis = -1;
    bool is_ordered = false, is_reverse = false;
  };

  int position(const ir::Operation* op) const { return positions_[op->id()]; }

  void number_positions(const ir::Region& region) {
    for (const ir::Operation* op : region) {
      positions_[op->id()] = next_position_++;
      if (writes_memory(op)) writers_.push_back(op);
      for (const ir::Region* nested : op->regions()) number_positions(*nested);
      ends_[op->id()] = next_position_++;
    }
  }

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
    if (pending_.group.roots.empty()) return;
    const int index = static_cast<int>(result_.plan.groups.size());
    pending_.group.cost = recompute_cost(pending_.cone);
    pending_.group.element_bytes = widest_element(pending_.group, pending_.cone);
    result_.plan.groups.push_back(std::move(pending_.group));
    result_.cones.push_back(std::move(pending_.cone));
    add_item(ItemKind::kGroup, nullptr, index);
    pending_ = Pending();
  }

  void store_tile(const ir::Value* value) {
    ENC_CHECK(!is_stored_[value->id()], "a tile in scratch is computed again");
    is_stored_[value->id()] = 1;
    result_.is_final = false;
  }

  // --- reads and writes -----------------------------------------------------------------------

  // The last position at which `root` may run, where `value` was defined outside its loops.
  int latest_run(const ir::Operation* defined, const ir::Operation* root) const {
    const ir::Operation* around = root;
    while (around->parent() != defined->parent()) around = around->parent_operation();
    return around == root ? position(root) : ends_[around->id()];
  }

  // Whether memory that `load` reads may be written after it and before `root` runs.
  bool is_overwritten(const ir::Operation* load, Indexing indexing, const ir::Operation* root) {
    const int latest = latest_run(load, root);
    for (const ir::Operation* writer : writers_) {
      const int at = position(writer);
      if (at <= position(load) || at >= latest || writer == root) continue;
      if (!effects_.may_alias(*writer, *load)) continue;
      const bool in_group = contains_operation(pending_.writes, writer);
      if (in_group && indexing == Indexing::kOwn && same_elements(writer, load)) continue;
      return true;
    }
    return false;
  }

  static bool contains_operation(const std::vector<const ir::Operation*>& list,
                                 const ir::Operation* op) {
    return std::find(list.begin(), list.end(), op) != list.end();
  }

  bool writes_under(const ir::Operation* writer, const ConeEntry& entry) const {
    const ir::Operation* load = entry.value->definition();
    if (!is_load(load) || !effects_.may_alias(*writer, *load)) return false;
    return !(entry.indexing == Indexing::kOwn && same_elements(writer, load));
  }

  // Loads of the new root's cone that come behind a write of the group.
  bool reads_what_group_writes(const Cone& cone) const {
    for (const ConeEntry& entry : cone.computed) {
      if (!is_load(entry.value->definition())) continue;
      for (const ir::Operation* writer : pending_.writes)
        if (position(writer) < position(entry.value->definition()) &&
            effects_.may_alias(*writer, *entry.value->definition()))
          return true;
    }
    return false;
  }

  bool depends_on_group(const Cone& cone) const {
    auto is_produced = [&](const ir::Value* value) { return contains(pending_.produced, value); };
    if (std::any_of(cone.scalars.begin(), cone.scalars.end(), is_produced)) return true;
    for (const ConeEntry& entry : cone.stored) {
      if (is_produced(entry.value)) return true;
      const bool other = entry.indexing == Indexing::kOther;
      if (other && contains(pending_.written, entry.value)) return true;
      if (other && writes_buffer(result_.plan.buffer_of[entry.value->id()])) return true;
    }
    return false;
  }

  bool writes_buffer(int buffer) const {
    return buffer >= 0 && std::find(pending_.buffers.begin(), pending_.buffers.end(), buffer) !=
                              pending_.buffers.end();
  }

  bool writes_what_group_reads(const ir::Operation* writer) const {
    if (writer == nullptr || !writes_memory(writer)) return false;
    for (const ConeEntry& entry : pending_.cone.computed)
      if (writes_under(writer, entry)) return true;
    return std::any_of(
        pending_.writes.begin(), pending_.writes.end(),
        [&](const ir::Operation* other) { return effects_.may_alias(*writer, *other); });
  }

  bool writes_buffer_that_group_reads(int buffer) const {
    if (buffer < 0) return false;
    for (const ConeEntry& entry : pending_.cone.stored)
      if (entry.indexing == Indexing::kOther && result_.plan.buffer_of[entry.value->id()] == buffer)
        return true;
    return false;
  }

  bool fits(const NewRoot& added, const Cone& cone) const {
    const Group& group = pending_.group;
    if (group.roots.empty()) return true;
    const bool same_axis =
        added.inner_axis < 0 || group.inner_axis < 0 ||
        (added.inner_axis == group.inner_axis && added.is_ordered == group.is_ordered &&
         added.is_reverse == group.is_reverse);
    return !pending_.is_closed && group.space == added.space && same_axis &&
           !depends_on_group(cone) && !reads_what_group_writes(cone) &&
           !writes_what_group_reads(added.root.op) &&
           !writes_buffer_that_group_reads(added.root.buffer);
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
      const ir::Operation* load = entry.value->definition();
      if (!is_load(load) || load == runs_at || is_stored_[entry.value->id()]) continue;
      const bool under = writes_memory(runs_at) && writes_under(runs_at, entry);
      if (!under && !is_overwritten(load, entry.indexing, runs_at)) continue;
      store_tile(entry.value);
      stored = true;
    }
    return stored;
  }

  void add_root(NewRoot added, const ir::Operation* runs_at) {
    const Cone cone = cone_of(added.root);
    if (!fits(added, cone)) flush();
    if (settle_loads(cone, runs_at)) return;  // this cut is thrown away
    Group& group = pending_.group;
    group.space = added.space;
    if (added.inner_axis >= 0) {
      group.inner_axis = added.inner_axis;
      group.is_ordered = added.is_ordered;
      group.is_reverse = added.is_reverse;
    }
    note_effects(added.root);
    group.roots.push_back(added.root);
    append(cone);
  }

  void note_effects(const Root& root) {
    if (root.kind == RootKind::kWrite) {
      pending_.written.push_back(root.value);
      pending_.buffers.push_back(root.buffer);
      return;
    }
    if (writes_memory(root.op)) pending_.writes.push_back(root.op);
    for (const ir::Value* value : root.op->results()) {
      pending_.produced.push_back(value);
      if (value->type().is_tile() && value->has_users()) buffer_for(value);
    }
  }

  void append(const Cone& cone) {
    Cone& all = pending_.cone;
    all.computed.insert(all.computed.end(), cone.computed.begin(), cone.computed.end());
    all.stored.insert(all.stored.end(), cone.stored.begin(), cone.stored.end());
    all.scalars.insert(all.scalars.end(), cone.scalars.begin(), cone.scalars.end());
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
    add_root(std::move(added), runs_at);
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
    auto is_produced = [&](const ir::Value* value) { return contains(pending_.produced, value); };
    const bool depends = std::any_of(op->operands().begin(), op->operands().end(), is_produced);
    if (depends || op->record().effect != Effect::kPure) flush();
    add_item(ItemKind::kScalar, op);
  }

  // Whether the product may overwrite the tile that it adds to: one that was computed for it alone
  // beside it, or one that the loop around carries and that becomes the product's result.
  bool adds_in_place(const ir::Operation* dot) const {
    const ir::Value* sum = dot->operand(2);
    if (result_.plan.buffer_of[sum->id()] < 0 || sum->users().size() != 1) return false;
    const ir::Operation* definition = sum->definition();
    if (definition != nullptr)
      return definition->parent() == dot->parent() &&
             (definition->is(Opcode::kDot) || !must_be_stored(sum));
    if (sum->argument_of() != dot->parent()) return false;
    const ir::Operation* loop = dot->parent()->parent();
    const ir::Operation* yield = dot->parent()->terminator();
    return loop != nullptr && loop->is(Opcode::kFor) && dot->result()->users().size() == 1 &&
           yield->operand(sum->index() - 1) == dot->result();
  }

  void add_dot(ir::Operation* op) {
    flush();
    add_item(ItemKind::kDot, op);
    if (adds_in_place(op))
      result_.plan.buffer_of[op->result()->id()] = result_.plan.buffer_of[op->operand(2)->id()];
    else
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
        ENC_CHECK(!reads_buffer(tile.value, buffer) || writes_buffer(buffer),
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
    if (is_load(op) || op->record().effect == Effect::kPure) {
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
  ConeWalk walk_;
  std::vector<int> positions_, ends_;
  std::vector<const ir::Operation*> writers_;
  int next_position_ = 0;
  const ir::Region* region_ = nullptr;
  Pending pending_;
  Grouping result_;
};

}  // namespace

Grouping cut_into_groups(const ir::Function& function, const std::vector<DotLoop>& dot_loops,
                         std::vector<char>& is_stored) {
  return Cutter(function, dot_loops, is_stored).cut();
}

}  // namespace enceladus::loop
