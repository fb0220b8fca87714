// How long values live. For whoever gives tiles storage: a value needs none behind the last
// operation of its own region that uses it. Changes nothing.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace enceladus::analysis {

class Liveness {
 public:
  explicit Liveness(const ir::Function& function);

  // The last operation of the value's own region that uses it, itself or in its regions; null for
  // a value that nothing uses. A value from outside a loop that is used in it lives through the
  // whole loop, because that operation is the loop.
  const ir::Operation* last_use(const ir::Value* value) const;
  // The most bytes of tiles (rank > 0) alive at once, each tile in storage of its own.
  int64_t peak_tile_bytes() const { return peak_tile_bytes_; }

 private:
  int64_t region(const ir::Region& region, int64_t alive_before);

  std::vector<const ir::Operation*> last_uses_;
  int64_t peak_tile_bytes_ = 0;
};

}  // namespace enceladus::analysis
