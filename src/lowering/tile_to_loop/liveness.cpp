#include "lowering/tile_to_loop/liveness.h"

#include <algorithm>

namespace enceladus::loop {
namespace {

using ir::Opcode;

constexpr int64_t kAlignment = 64;

int64_t element_bytes(const ir::Type& type) {
  return type.is_pointer() ? 8 : byte_size(type.dtype());
}

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void set_row_major(Buffer& buffer) {
  const auto shape = buffer.type.shape();
  buffer.strides.assign(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    buffer.strides[axis - 1] = buffer.strides[axis] * shape[axis];
  buffer.bytes = round_up(buffer.type.elements() * element_bytes(buffer.type), kAlignment);
}

class Liveness {
 public:
  Liveness(Grouping& grouping, const ir::Function& function)
      : grouping_(grouping), function_(function) {
    number(function.body());
    homes_.assign(grouping.plan.buffers.size(), nullptr);
    find_homes(function.body());
    touch_all(function.body());
  }

 private:
  struct Span {
    int first, last;
  };

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
    Span span{number, number};
    for (; region != homes_[index] && region->parent() != nullptr;
         region = region->parent()->parent()) {
      const Span around = spans_[region->parent()];
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
  const ir::Function& function_;
  int next_ = 0;
  std::unordered_map<const ir::Operation*, Span> spans_;
  std::vector<const ir::Region*> homes_;
};

// First fit, in the order in which the buffers come alive.
void pack(Plan& plan) {
  std::vector<Buffer*> order;
  for (Buffer& buffer : plan.buffers)
    if (buffer.is_used) order.push_back(&buffer);
  std::stable_sort(order.begin(), order.end(),
                   [](const Buffer* a, const Buffer* b) { return a->first < b->first; });
  std::vector<Buffer*> placed;  // ascending offsets
  for (Buffer* buffer : order) {
    int64_t offset = 0;
    for (const Buffer* other : placed) {
      const bool alive_together = other->first <= buffer->last && buffer->first <= other->last;
      if (!alive_together) continue;
      if (other->offset >= offset + buffer->bytes) break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    buffer->offset = offset;
    plan.scratch_bytes = std::max(plan.scratch_bytes, offset + buffer->bytes);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), buffer,
                         [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; }),
        buffer);
  }
}

}  // namespace

void place_buffers(Grouping& grouping, const ir::Function& function,
                   const DotTileLayout& dot_layout) {
  Plan& plan = grouping.plan;
  for (Buffer& buffer : plan.buffers) set_row_major(buffer);
  ir::walk(function.body(), [&](const ir::Operation* op) {
    if (op->is(Opcode::kDot) && plan.buffer(op->result()) >= 0)
      dot_layout(op, plan.buffers[plan.buffer(op->result())]);
  });
  const Liveness liveness(grouping, function);
  pack(plan);
}

}  // namespace enceladus::loop
