#include "transforms/barriers.h"

#include <algorithm>
#include <vector>

#include "analysis/effects.h"
#include "ir/builder.h"

namespace enceladus::transforms {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;

bool is_shared(const Operation& op) {
  return op.is(Opcode::kSharedLoad) || op.is(Opcode::kSharedStore) || op.is(Opcode::kMatrixLoad) ||
         op.is(Opcode::kCopyAsync);
}

bool is_device(const Operation& op) {
  return !is_shared(op) && (analysis::reads_memory(op) || analysis::writes_memory(op));
}

bool overlap_in_shared(const Operation& a, const Operation& b) {
  const Operation& x = *a.operand(0)->definition();
  const Operation& y = *b.operand(0)->definition();
  // A ring's accesses are ordered by its waits.
  if (&x == &y && x.integer_or(AttributeName::kStaged, 0)) return false;
  int64_t x_first = x.integer(AttributeName::kOffset), y_first = y.integer(AttributeName::kOffset);
  return x_first < y_first + y.integer(AttributeName::kBytes) &&
         y_first < x_first + x.integer(AttributeName::kBytes);
}

// Accesses since the last barrier, each once.
using Open = std::vector<const Operation*>;

void add(Open& open, const Operation* op) {
  if (std::ranges::find(open, op) == open.end()) open.push_back(op);
}

void merge(Open& open, const Open& other) {
  for (const Operation* op : other) add(open, op);
}

class Inserter {
 public:
  explicit Inserter(ir::Function& function)
      : builder_(function), effects_(function), function_(function) {}

  bool run() {
    Open open;
    region(function_.body(), open);
    return inserted_;
  }

 private:
  void region(ir::Region& region, Open& open) {
    for (Operation* op : region) operation(op, open);
  }

  void operation(Operation* op, Open& open) {
    if (op->is(Opcode::kFor) || op->is(Opcode::kWhile)) return loop(op, open);
    if (op->is(Opcode::kIf)) return branch(op, open);
    if (op->is(Opcode::kBarrier)) return end(op->text(AttributeName::kMemory), open);
    if (!is_shared(*op) && !is_device(*op)) return;
    bool shared = false, device = false;
    for (const Operation* earlier : open) {
      if (!conflicts(*earlier, *op)) continue;
      shared |= is_shared(*earlier);
      device |= is_device(*earlier);
    }
    if (shared || device) {
      std::string memory = shared && device ? "both" : shared ? "shared" : "device";
      builder_.set_insertion_before(op);
      builder_.set_location_of(op);
      builder_.create(Opcode::kBarrier, {}, {}, {{AttributeName::kMemory, memory}});
      inserted_ = true;
      end(memory, open);
    }
    add(open, op);
  }

  // A body may run any number of times, also none.
  void loop(Operation* op, Open& open) {
    Open before = open;
    for (int turn = 0; turn < 2; ++turn) {
      for (ir::Region* nested : op->regions()) region(*nested, open);
      if (turn == 0) merge(open, before);
    }
    if (op->is(Opcode::kWhile)) region(*op->region(0), open);
    merge(open, before);
  }

  void branch(Operation* op, Open& open) {
    Open otherwise = open;
    region(*op->region(0), open);
    region(*op->region(1), otherwise);
    merge(open, otherwise);
  }

  static void end(std::string_view memory, Open& open) {
    std::erase_if(open, [&](const Operation* op) {
      return memory == "both" || (memory == "shared") == is_shared(*op);
    });
  }

  bool conflicts(const Operation& earlier, const Operation& op) const {
    if (!analysis::writes_memory(earlier) && !analysis::writes_memory(op)) return false;
    if (op.is(Opcode::kCopyAsync) && is_device(earlier)) return reads_written(op, earlier);
    if (is_shared(earlier) != is_shared(op)) return false;
    if (is_shared(op)) return overlap_in_shared(earlier, op);
    return effects_.may_alias(earlier, op);
  }

  // Whether the copy's source is what the device access wrote.
  bool reads_written(const Operation& copy, const Operation& access) const {
    return analysis::writes_memory(access) && effects_.may_alias(copy.operand(2), access);
  }

  ir::Builder builder_;
  analysis::MemoryEffects effects_;
  ir::Function& function_;
  bool inserted_ = false;
};

}  // namespace

bool insert_barriers(ir::Function& function) { return Inserter(function).run(); }

}  // namespace enceladus::transforms
