#include "lowering/tile_to_loop/coalescing.h"

#include <algorithm>

#include "lowering/tile_to_loop/liveness.h"

namespace enceladus::loop {
namespace {

using ir::Opcode;

// A read of a tile in scratch by an item.
struct Read {
  int number;
  const ir::Region* region;
  bool at_own_index;  // the item may write over each element that it reads
};

// The last reads of a tile, as seen from a region: an item in a loop counts as the loop's end.
struct LastRead {
  int number = -1;
  bool at_own_index = true;
};

class Sharing {
 public:
  Sharing(Grouping& grouping, const ir::Function& function)
      : grouping_(grouping), plan_(grouping.plan), function_(function) {
    update();
    for (const auto& [region, items] : plan_.items)
      for (const Item& item : items)
        if (item.kind == ItemKind::kDot) share_accumulator(item);
    update();
    ir::walk(function.body(), [&](const ir::Operation* op) {
      if (op->is(Opcode::kFor) || op->is(Opcode::kWhile)) share_carried(op);
    });
    drop_idle_copies();
  }

 private:
  void update() {
    spans_ = find_lives(grouping_, function_);
    reads_.assign(function_.value_count(), {});
    for (const auto& [region, items] : plan_.items)
      for (const Item& item : items) note_reads(item, region);
  }

  void note_reads(const Item& item, const ir::Region* region) {
    if (item.kind == ItemKind::kGroup) {
      for (const ConeEntry& entry : grouping_.cones[item.group].stored)
        reads_[entry.value->id()].push_back(
            {item.number, region, entry.indexing == Indexing::kOwn});
      return;
    }
    const bool is_dot = item.kind == ItemKind::kDot;
    for (int index = 0; index < item.op->operand_count(); ++index)
      if (const ir::Value* operand = item.op->operand(index))
        reads_[operand->id()].push_back({item.number, region, is_dot && index == 2});
    if (is_dot)  // transposed operands are read where they lie
      for (const int index : {0, 1})
        reads_[dot_tile(item.op->operand(index)).tile->id()].push_back(
            {item.number, region, false});
  }

  LastRead last_read(const ir::Value* value, const ir::Region* home) const {
    LastRead last;
    for (const Read& read : reads_[value->id()]) {
      int number = read.number;
      bool at_own_index = read.at_own_index;
      for (const ir::Region* region = read.region; region != home && region->parent() != nullptr;
           region = region->parent()->parent()) {
        number = spans_.at(region->parent()).last;
        at_own_index = false;
      }
      if (number > last.number) last = {number, true};
      if (number == last.number) last.at_own_index = last.at_own_index && at_own_index;
    }
    return last;
  }

  static bool same_layout(const Buffer& a, const Buffer& b) {
    return a.strides == b.strides && a.bytes == b.bytes;
  }

  // Everything in `from` moves to `to`.
  void move(int from, int to) {
    for (int& buffer : plan_.buffer_of)
      if (buffer == from) buffer = to;
    for (Group& group : plan_.groups)
      for (Root& root : group.roots)
        if (root.buffer == from) root.buffer = to;
  }

  void share_accumulator(const Item& item) {
    const ir::Value* accumulator = item.op->operand(2);
    const ir::Value* result = item.op->result();
    const int from = plan_.buffer(accumulator), to = plan_.buffer(result);
    const ir::Operation* made = accumulator->definition();
    if (from < 0 || to < 0 || from == to || made == nullptr) return;
    const bool is_plain =
        made->parent() == item.op->parent() && made->record().op_class != ir::OpClass::kControl;
    if (!is_plain || accumulator->type() != result->type()) return;
    if (made->is(Opcode::kDot) && !same_layout(plan_.buffers[from], plan_.buffers[to])) return;
    if (last_read(accumulator, item.op->parent()).number != item.number) return;
    const bool is_operand = dot_tile(item.op->operand(0)).tile == accumulator ||
                            dot_tile(item.op->operand(1)).tile == accumulator;
    if (!is_operand) move(from, to);
  }

  void share_carried(const ir::Operation* loop) {
    const bool is_for = loop->is(Opcode::kFor);
    const ir::Region* body = loop->region(is_for ? 0 : 1);
    const ir::Operation* yield = body->terminator();
    if (spans_.find(loop) == spans_.end()) return;  // runs as something else
    for (const ir::Value* result : loop->results()) {
      if (!result->type().is_tile()) continue;
      const ir::Value* next = yield->operand(result->index());
      const int from = plan_.buffer(next), to = plan_.buffer(result);
      const ir::Operation* made = next->definition();
      const bool is_made_here = made != nullptr && made->parent() == body;
      if (from < 0 || to < 0 || from == to || !is_made_here || is_carried(from)) continue;
      const ir::Value* before = body->argument(result->index() + (is_for ? 1 : 0));
      const LastRead last = last_read(before, body);
      const int first = plan_.buffers[from].first;
      if (last.number > first || (last.number == first && !last.at_own_index)) continue;
      plan_.buffers[to].strides = plan_.buffers[from].strides;
      plan_.buffers[to].bytes = plan_.buffers[from].bytes;
      move(from, to);
      carried_.push_back(to);
    }
  }

  // Shared with another loop's tile already; its life is not known afresh.
  bool is_carried(int buffer) const {
    return std::find(carried_.begin(), carried_.end(), buffer) != carried_.end();
  }

  void drop_idle_copies() {
    for (Group& group : plan_.groups)
      std::erase_if(group.roots, [&](const Root& root) {
        return root.kind == RootKind::kWrite && !root.is_definition &&
               plan_.buffer(root.value) == root.buffer;
      });
    for (auto& [region, items] : plan_.items)
      std::erase_if(items, [&](const Item& item) {
        return item.kind == ItemKind::kGroup && plan_.groups[item.group].roots.empty();
      });
  }

  Grouping& grouping_;
  Plan& plan_;
  const ir::Function& function_;
  std::unordered_map<const ir::Operation*, ItemSpan> spans_;
  std::vector<std::vector<Read>> reads_;  // by Value::id()
  std::vector<int> carried_;              // buffers that were shared so
};

}  // namespace

void share_buffers(Grouping& grouping, const ir::Function& function) {
  Sharing(grouping, function);
}

}  // namespace enceladus::loop
