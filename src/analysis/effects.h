// What a function does to memory: which parameter each pointer comes from, which parameters are
// read and written, and which accesses may touch the same bytes. Changes nothing.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace enceladus::analysis {

// The parameters that a pointer or descriptor may point into. Parameters from index 63 on, and
// pointers made of loaded or computed numbers, are `anything`.
struct Roots {
  uint64_t parameters = 0;  // a bit an index
  bool anything = false;
  // The index where it is exactly one parameter, else -1.
  int single() const;
  Roots operator|(const Roots& other) const {
    return {parameters | other.parameters, anything || other.anything};
  }
  bool operator==(const Roots&) const = default;
};

bool reads_memory(const ir::Operation& op);   // loads and atomics; not its regions
bool writes_memory(const ir::Operation& op);  // stores and atomics; not its regions

// Whether an atomic orders no other access to memory.
bool is_relaxed(const ir::Operation& atomic);
// A relaxed atomic addition that shows nobody what was there, so that it commutes with its like.
bool is_unseen_sum(const ir::Operation& op);

// Whether both operations access the very same element for the same index, and no two indices
// share one as far as a sane program goes: the same pointer made of indices, sums and products
// alone (nothing loaded), or the same descriptor and offsets. They may then share a loop.
bool same_elements(const ir::Operation& first, const ir::Operation& second);

class MemoryEffects {
 public:
  explicit MemoryEffects(const ir::Function& function);

  Roots roots(const ir::Value* pointer) const;
  // What the memory operation accesses; nothing for other operations.
  Roots roots(const ir::Operation& access) const;
  // Whether the kernel may load from, or store to, what the parameter points to.
  bool is_read(int parameter) const { return contains(read_, parameter); }
  bool is_written(int parameter) const { return contains(written_, parameter); }
  // Whether two memory operations may touch the same bytes. Different parameters may point to one
  // array unless the options say that arrays are disjoint.
  bool may_alias(const ir::Operation& a, const ir::Operation& b) const;
  bool may_alias(const ir::Value* pointer, const ir::Operation& access) const;
  // Whether the two may not change places: they may alias and one of them writes.
  bool must_keep_order(const ir::Operation& a, const ir::Operation& b) const;

 private:
  bool may_alias(const Roots& x, const Roots& y) const;
  static bool contains(const Roots& roots, int parameter);
  bool region(const ir::Region& region);
  bool operation(const ir::Operation& op);
  bool merge(const ir::Value* value, const Roots& roots);

  bool arrays_disjoint_;
  std::vector<Roots> roots_;
  Roots read_;
  Roots written_;
};

}  // namespace enceladus::analysis
