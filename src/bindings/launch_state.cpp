#include "bindings/launch_state.h"

#include "support/hash.h"

namespace nb = nanobind;

namespace enceladus {

size_t SpecializationTable::slot_of(std::string_view key, uint64_t hash) const {
  size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const Slot& candidate = slots_[slot];
    if (candidate.entry < 0) return slot;
    if (candidate.hash == hash && entries_[static_cast<size_t>(candidate.entry)]->key == key)
      return slot;
  }
}

std::shared_ptr<Specialization> SpecializationTable::find(std::string_view key) const {
  if (slots_.empty()) return nullptr;
  if (found_ < 0 || entries_[static_cast<size_t>(found_)]->key != key)
    found_ = slots_[slot_of(key, hash_bytes(key.data(), key.size()))].entry;
  return found_ < 0 ? nullptr : entries_[static_cast<size_t>(found_)];
}

void SpecializationTable::insert(std::shared_ptr<Specialization> specialization) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow();
  uint64_t hash = hash_bytes(specialization->key.data(), specialization->key.size());
  Slot& slot = slots_[slot_of(specialization->key, hash)];
  if (slot.entry < 0) {
    slot = {hash, static_cast<int32_t>(entries_.size())};
    entries_.push_back(std::move(specialization));
    return;
  }
  // Dropping the old one may run Python code, which may launch: first put the new one in place.
  std::swap(entries_[static_cast<size_t>(slot.entry)], specialization);
}

void SpecializationTable::grow() {
  size_t size = slots_.empty() ? 16 : 2 * slots_.size();
  slots_.assign(size, Slot{});
  for (size_t entry = 0; entry < entries_.size(); ++entry) {
    const std::string& key = entries_[entry]->key;
    uint64_t hash = hash_bytes(key.data(), key.size());
    slots_[slot_of(key, hash)] = {hash, static_cast<int32_t>(entry)};
  }
}

void SpecializationTable::clear() {
  slots_.clear();
  found_ = -1;
  std::vector<std::shared_ptr<Specialization>> dropped = std::move(entries_);
  entries_.clear();
}

int SpecializationTable::traverse(visitproc visit, void* arg) {
  for (const std::shared_ptr<Specialization>& entry : entries_) {
    // A launch that is under way holds one more reference; the collector must then leave it alone.
    if (entry.use_count() > 1) continue;
    Py_VISIT(entry->compiled.ptr());
    if (int result = entry->dependencies.traverse(visit, arg)) return result;
  }
  return 0;
}

}  // namespace enceladus
