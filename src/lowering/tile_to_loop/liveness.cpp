#include "lowering/tile_to_loop/liveness.h"

#include <algorithm>

namespace enceladus::loop {
namespace {

class Liveness {
 public:
  Liveness(Grouping& grouping, const ir::Function& function) : grouping_(grouping) {
    for (Buffer& buffer : grouping.plan.buffers) buffer.is_used = false;
    number(function.body());
    homes_.assign(grouping.plan.buffers.size(), nullptr);
    find_homes(function.body());
    touch_all(function.body());
  }

  std::unordered_map<const ir::Operation*, ItemSpan> take_spans() { return std::move(spans_); }

 private:
  void number(const ir::Region& region) {
    for (Item& item : grouping_.plan.items[&region]) {
      item.number = next_++;
      if (item.kind != ItemKind::kControl) continue;
      for (const ir::Region* nested : item.op->regions()) number(*nested);
      spans_[item.op] = {item.number, next_++};
    }
  }

  // The region in which a buffer is defined; what a control operation carries belongs to the
  // region around it.
  void find_homes(const ir::Region& region) {
    for (const ir::Operation* op : region) {
      for (const ir::Value* value : op->results()) {
        const int buffer = grouping_.plan.buffer(value);
        if (buffer >= 0 && homes_[buffer] == nullptr) homes_[buffer] = &region;
      }
      for (const ir::Region* nested : op->regions()) find_homes(*nested);
    }
  }

  void touch(int index, int number, const ir::Region* region) {
    if (index < 0) return;
    ItemSpan span{number, number};
    for (; region != homes_[index] && region->parent() != nullptr;
         region = region->parent()->parent()) {
      const ItemSpan around = spans_[region->parent()];
      span = {std::min(span.first, around.first), std::max(span.last, around.last)};
    }
    Buffer& buffer = grouping_.plan.buffers[index];
    buffer.first = buffer.is_used ? std::min(buffer.first, span.first) : span.first;
    buffer.last = buffer.is_used ? std::max(buffer.last, span.last) : span.last;
    buffer.is_used = true;
  }

  void touch_values(std::span<ir::Value* const> values, int number, const ir::Region* region) {
    for (const ir::Value* value : values)
      if (value != nullptr) touch(grouping_.plan.buffer(value), number, region);
  }

  void touch_all(const ir::Region& region) {
    for (const Item& item : grouping_.plan.items[&region]) {
      if (item.kind == ItemKind::kGroup) {
        touch_group(item, region);
        continue;
      }
      touch_values(item.op->operands(), item.number, &region);
      if (item.kind == ItemKind::kDot)
        for (int operand : {0, 1})
          touch(grouping_.plan.buffer(dot_tile(item.op->operand(operand)).tile), item.number,
                &region);
      touch_values(item.op->results(), item.number, &region);
      if (item.kind != ItemKind::kControl) continue;
      touch_values(item.op->results(), spans_[item.op].last, &region);
      for (const ir::Region* nested : item.op->regions()) touch_all(*nested);
    }
  }

  void touch_group(const Item& item, const ir::Region& region) {
    for (const Root& root : grouping_.plan.groups[item.group].roots) {
      touch(root.buffer, item.number, &region);
      if (root.op != nullptr) touch_values(root.op->results(), item.number, &region);
    }
    for (const ConeEntry& entry : grouping_.cones[item.group].stored)
      touch(grouping_.plan.buffer(entry.value), item.number, &region);
  }

  Grouping& grouping_;
  int next_ = 0;
  std::unordered_map<const ir::Operation*, ItemSpan> spans_;
  std::vector<const ir::Region*> homes_;
};

}  // namespace

std::unordered_map<const ir::Operation*, ItemSpan> find_lives(Grouping& grouping,
                                                              const ir::Function& function) {
  return Liveness(grouping, function).take_spans();
}

}  // namespace enceladus::loop
