// Which arrays a pointer or descriptor may point into, and which memory operations may therefore
// touch the same bytes. Conservative: a pointer whose origin is not seen may point anywhere.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace enceladus::loop {

class Aliasing {
 public:
  explicit Aliasing(const ir::Function& function) : function_(&function) {}

  // Indices of the parameters whose arrays `pointer` may point into, ascending; -1 first where it
  // may point elsewhere too.
  std::vector<int> origins(const ir::Value* pointer) const;
  // `writer` stores; `other` loads or stores. Both are memory operations.
  bool may_alias(const ir::Operation* writer, const ir::Operation* other) const;

 private:
  const ir::Function* function_;
};

// Whether both operations access the very same element for the same index, and no two indices
// share one as far as a sane program goes: the same pointer made of indices, sums and products
// alone (nothing loaded), or the same descriptor and offsets.
bool same_elements(const ir::Operation* first, const ir::Operation* second);

}  // namespace enceladus::loop
