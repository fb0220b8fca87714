#include "lowering/tile_to_loop/pending_group.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace enceladus::loop {
namespace {

bool is_load(const ir::Operation* op) { return op->record().effect == ir::Effect::kRead; }

template <typename T>
bool contains(const std::vector<T>& list, const std::type_identity_t<T>& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
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

template <typename T>
void append(std::vector<T>& list, const std::vector<T>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

bool PendingGroup::gives(const ir::Value* value) const { return contains(given_, value); }

bool PendingGroup::writes_buffer(int buffer) const {
  return buffer >= 0 && contains(buffers_, buffer);
}

bool PendingGroup::may_join(const NewRoot& added, const Cone& cone) const {
  if (is_empty()) return true;
  return has_nest_for(added) && !gives_what_is_read(cone) && !writes_what_is_read(cone) &&
         !reads_what_is_written(added.root);
}

bool PendingGroup::has_nest_for(const NewRoot& added) const {
  if (group_.space != added.space) return false;
  if (added.inner_axis < 0 || group_.inner_axis < 0) return true;
  return added.inner_axis == group_.inner_axis && added.is_ordered == group_.is_ordered &&
         added.is_reverse == group_.is_reverse;
}

bool PendingGroup::gives_what_is_read(const Cone& cone) const {
  auto is_given = [&](const ir::Value* value) { return gives(value); };
  if (std::any_of(cone.scalars.begin(), cone.scalars.end(), is_given)) return true;
  return std::any_of(cone.stored.begin(), cone.stored.end(), [&](const ConeEntry& entry) {
    if (gives(entry.value)) return true;
    return entry.indexing == Indexing::kOther &&
           (contains(written_, entry.value) || writes_buffer(buffer_of_[entry.value->id()]));
  });
}

// Loads of the new root that come behind a write of the group.
bool PendingGroup::writes_what_is_read(const Cone& cone) const {
  for (const ConeEntry& entry : cone.computed) {
    const ir::Operation* load = entry.value->definition();
    if (!is_load(load)) continue;
    for (const ir::Operation* writer : writes_)
      if (order_.position(writer) < order_.position(load) && effects_.may_alias(*writer, *load))
        return true;
  }
  return false;
}

bool PendingGroup::reads_what_is_written(const Root& root) const {
  for (const ConeEntry& entry : cone_.stored)
    if (root.buffer >= 0 && entry.indexing == Indexing::kOther &&
        buffer_of_[entry.value->id()] == root.buffer)
      return true;
  if (root.op == nullptr || !analysis::writes_memory(*root.op)) return false;
  for (const ConeEntry& entry : cone_.computed)
    if (writes_under(root.op, entry)) return true;
  return std::any_of(writes_.begin(), writes_.end(), [&](const ir::Operation* other) {
    return effects_.may_alias(*root.op, *other);
  });
}

bool PendingGroup::writes_under(const ir::Operation* writer, const ConeEntry& entry) const {
  const ir::Operation* load = entry.value->definition();
  if (!is_load(load) || !effects_.may_alias(*writer, *load)) return false;
  return !(entry.indexing == Indexing::kOwn && analysis::same_elements(*writer, *load));
}

bool PendingGroup::is_overwritten(const ConeEntry& entry, const ir::Operation* root) const {
  const ir::Operation* load = entry.value->definition();
  if (!is_load(load) || load == root) return false;
  if (analysis::writes_memory(*root) && writes_under(root, entry)) return true;
  const int latest = order_.latest_run(load, root);
  for (const ir::Operation* writer : order_.writers()) {
    const int at = order_.position(writer);
    if (at <= order_.position(load) || at >= latest || writer == root) continue;
    if (!effects_.may_alias(*writer, *load)) continue;
    const bool is_own = contains(writes_, writer) && entry.indexing == Indexing::kOwn;
    if (!is_own || !analysis::same_elements(*writer, *load)) return true;
  }
  return false;
}

void PendingGroup::add(const NewRoot& added, const Cone& cone) {
  group_.space = added.space;
  if (added.inner_axis >= 0) {
    group_.inner_axis = added.inner_axis;
    group_.is_ordered = added.is_ordered;
    group_.is_reverse = added.is_reverse;
  }
  const Root& root = added.root;
  if (root.kind == RootKind::kWrite) {
    written_.push_back(root.value);
    buffers_.push_back(root.buffer);
  } else {
    if (analysis::writes_memory(*root.op)) writes_.push_back(root.op);
    for (const ir::Value* value : root.op->results()) given_.push_back(value);
  }
  group_.roots.push_back(root);
  append(cone_.computed, cone.computed);
  append(cone_.stored, cone.stored);
  append(cone_.scalars, cone.scalars);
}

PendingGroup::Finished PendingGroup::take() {
  group_.cost = recompute_cost(cone_);
  group_.element_bytes = widest_element(group_, cone_);
  Finished finished{std::exchange(group_, {}), std::exchange(cone_, {})};
  given_.clear();
  written_.clear();
  buffers_.clear();
  writes_.clear();
  return finished;
}

}  // namespace enceladus::loop
