#include "lowering/tile_to_loop/placement.h"

#include <algorithm>

#include "lowering/tile_to_loop/coalescing.h"
#include "lowering/tile_to_loop/liveness.h"

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
  share_buffers(grouping, function);
  find_lives(grouping, function);
  pack(plan);
}

}  // namespace enceladus::loop
