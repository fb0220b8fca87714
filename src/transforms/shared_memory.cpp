#include "transforms/shared_memory.h"

#include <algorithm>
#include <vector>

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;

constexpr int64_t kAlignment = 16;

struct Buffer {
  Operation* op;
  int64_t bytes;
  int64_t alignment;
  int first, last;  // positions of its first and last access
  int64_t offset = 0;
};

int64_t aligned(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Positions in program order; a loop ends at the position behind its body.
class Numbering {
 public:
  explicit Numbering(const ir::Function& function)
      : starts_(function.operation_count()), ends_(function.operation_count()) {
    region(function.body());
  }
  int start(const Operation* op) const { return starts_[op->id()]; }
  int end(const Operation* op) const { return ends_[op->id()]; }

 private:
  void region(const ir::Region& region) {
    for (const Operation* op : region) {
      starts_[op->id()] = next_++;
      for (const ir::Region* nested : op->regions()) this->region(*nested);
      ends_[op->id()] = next_++;
    }
  }
  std::vector<int> starts_, ends_;
  int next_ = 0;
};

// The operation of the buffer's own region that holds the access: the access or a control
// operation around it.
const Operation* in_region_of(const Operation* buffer, const Operation* access) {
  while (access->parent() != buffer->parent()) access = access->parent_operation();
  return access;
}

std::vector<Buffer> live_buffers(const ir::Function& function) {
  Numbering numbering(function);
  std::vector<Buffer> buffers;
  ir::walk(function.body(), [&](Operation* op) {
    if (!op->is(Opcode::kSharedBuffer) || !op->result()->has_users()) return;
    Buffer buffer{op, aligned(op->integer(AttributeName::kBytes), kAlignment),
                  op->integer_or(AttributeName::kAlignment, kAlignment), numbering.end(op), 0};
    bool any = false;
    for (const Operation* user : op->result()->users()) {
      const Operation* holder = in_region_of(op, user);
      int start = numbering.start(holder), end = numbering.end(holder);
      buffer.first = any ? std::min(buffer.first, start) : start;
      buffer.last = any ? std::max(buffer.last, end) : end;
      any = true;
    }
    buffers.push_back(buffer);
  });
  return buffers;
}

void report_excess(const std::vector<Buffer>& alive, int64_t bytes, int64_t limit) {
  std::string sizes;
  for (const Buffer& buffer : alive)
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(buffer.bytes) + " bytes (line " +
             std::to_string(buffer.op->location().line) + ")";
  fail(DiagnosticId::kSharedMemoryExceeded, alive.back().op->location(),
       {std::to_string(bytes), std::to_string(limit), sizes});
}

}  // namespace

int64_t place_shared_memory(ir::Function& function, int64_t limit, int64_t ample) {
  std::vector<Buffer> buffers = live_buffers(function);
  int64_t sum = 0;
  for (const Buffer& buffer : buffers) sum += buffer.bytes;
  bool is_ample = sum <= ample;
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; });
  int64_t total = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    // The lowest gap between those alive at the same time.
    std::vector<Buffer> alive;
    for (size_t j = 0; j < i; ++j) {
      bool meet = buffers[j].first <= buffers[i].last && buffers[i].first <= buffers[j].last;
      if (meet || is_ample) alive.push_back(buffers[j]);
    }
    std::sort(alive.begin(), alive.end(),
              [](const Buffer& a, const Buffer& b) { return a.offset < b.offset; });
    int64_t offset = 0;
    for (const Buffer& other : alive) {
      if (offset + buffers[i].bytes <= other.offset) break;
      offset = std::max(offset, aligned(other.offset + other.bytes, buffers[i].alignment));
    }
    buffers[i].offset = offset;
    buffers[i].op->set_attribute(AttributeName::kOffset, offset);
    total = std::max(total, offset + buffers[i].bytes);
    if (total > limit) {
      alive.push_back(buffers[i]);
      report_excess(alive, total, limit);
    }
  }
  return total;
}

}  // namespace enceladus::transforms
