#include "transforms/cse.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace enceladus::transforms {
namespace {

using ir::Attribute;
using ir::AttributeName;
using ir::Effect;
using ir::Operation;
using ir::Region;
using ir::Value;

size_t mixed(size_t hash, size_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

size_t hash_of(const ir::AttributeValue& value) {
  if (const int64_t* integer = std::get_if<int64_t>(&value)) return static_cast<size_t>(*integer);
  if (const std::string* text = std::get_if<std::string>(&value))
    return std::hash<std::string_view>()(*text);
  size_t hash = 0;
  for (int64_t item : std::get<std::vector<int64_t>>(value))
    hash = mixed(hash, static_cast<size_t>(item));
  return hash;
}

size_t hash_of(const Operation& op, size_t memory_version) {
  size_t hash = mixed(static_cast<size_t>(op.opcode()), memory_version);
  for (const Value* operand : op.operands()) hash = mixed(hash, operand ? operand->id() + 1 : 0);
  for (const Attribute& attribute : op.attributes())
    hash = mixed(hash, hash_of(attribute.value) + static_cast<size_t>(attribute.name));
  for (const Value* result : op.results())
    hash = mixed(hash, static_cast<size_t>(result->type().dtype()) * 8 +
                           static_cast<size_t>(result->type().rank()));
  return hash;
}

bool are_equal(const Operation& a, const Operation& b) {
  if (a.opcode() != b.opcode() || a.result_count() != b.result_count()) return false;
  if (!std::ranges::equal(a.operands(), b.operands())) return false;
  if (!std::ranges::equal(a.attributes(), b.attributes())) return false;
  for (int i = 0; i < a.result_count(); ++i)
    if (a.result(i)->type() != b.result(i)->type()) return false;
  return true;
}

bool writes_memory(const Operation& op) {
  switch (op.record().effect) {
    case Effect::kWrite:
    case Effect::kReadWrite:
    case Effect::kOrdered:
      return true;
    case Effect::kPure:
    case Effect::kRead:
    case Effect::kControl:
      return false;
  }
  return true;
}

bool region_writes_memory(const Operation& op) {
  bool found = false;
  for (const Region* region : op.regions())
    ir::walk(*region, [&](const Operation* nested) { found |= writes_memory(*nested); });
  return found;
}

class Merger {
 public:
  explicit Merger(const ir::Function& function)
      : heads_(std::bit_ceil(function.operation_count() + 1), -1) {}

  bool run(Region& region) {
    size_t mark = entries_.size();
    for (Operation* op : region) operation(op);
    while (entries_.size() > mark) {  // what is defined in the region ends with it
      heads_[slot(entries_.back().hash)] = entries_.back().next;
      entries_.pop_back();
    }
    return changed_;
  }

 private:
  struct Entry {
    size_t hash;
    size_t memory_version;
    Operation* op;
    int next;
  };

  size_t slot(size_t hash) const { return (hash ^ (hash >> 32)) & (heads_.size() - 1); }

  void operation(Operation* op) {
    if (!op->regions().empty()) {
      // A loop's later rounds see what its earlier ones wrote.
      bool writes = region_writes_memory(*op);
      memory_version_ += writes;
      for (Region* region : op->regions()) {
        run(*region);
        memory_version_ += writes;
      }
      return;
    }
    if (writes_memory(*op)) ++memory_version_;
    bool reads =
        op->record().effect == Effect::kRead && op->integer_or(AttributeName::kVolatile, 0) == 0;
    if (op->record().effect == Effect::kPure || reads) merge(op, reads ? memory_version_ : 0);
  }

  void merge(Operation* op, size_t memory_version) {
    size_t hash = hash_of(*op, memory_version);
    int& head = heads_[slot(hash)];
    for (int i = head; i >= 0; i = entries_[static_cast<size_t>(i)].next) {
      const Entry& entry = entries_[static_cast<size_t>(i)];
      if (entry.hash != hash || entry.memory_version != memory_version) continue;
      if (are_equal(*entry.op, *op)) return replace(op, entry.op);
    }
    entries_.push_back({hash, memory_version, op, head});
    head = static_cast<int>(entries_.size()) - 1;
  }

  void replace(Operation* op, Operation* earlier) {
    for (int i = 0; i < op->result_count(); ++i) {
      if (earlier->result(i)->name().empty()) earlier->result(i)->set_name(op->result(i)->name());
      op->result(i)->replace_all_uses_with(earlier->result(i));
    }
    op->erase();
    changed_ = true;
  }

  std::vector<int> heads_;
  std::vector<Entry> entries_;
  size_t memory_version_ = 1;
  bool changed_ = false;
};

}  // namespace

bool merge_common_subexpressions(ir::Function& function) {
  return Merger(function).run(function.body());
}

}  // namespace enceladus::transforms
