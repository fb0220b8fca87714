// Facts: what is known about integer and pointer values of a function: the interval each element
// lies in (at the value's own type, wrapped as that type wraps) and the contiguity, divisibility
// and constancy along each axis. From constants, ranges of program_id and arange, loop bounds,
// parameter facts, hints and assumptions. One walk when constructed; changes nothing.
#pragma once

#include <vector>

#include "analysis/axis_info.h"
#include "analysis/range.h"
#include "ir/ir.h"

namespace enceladus::analysis {

class Facts {
 public:
  explicit Facts(const ir::Function& function);

  // Values made after the construction have no facts: everything is possible for them.
  Range range(const ir::Value* value) const;
  AxisInfo axis_info(const ir::Value* value) const;
  // A power of two that divides every element (for a scalar: the value).
  int64_t divisibility(const ir::Value* value) const;

 private:
  std::vector<Range> ranges_;
  std::vector<AxisInfo> axes_;
};

// Whether an integer operation of this kind with operands in these ranges may leave the type's
// range, so that its result wraps. Never for operations that cannot (and, or, min, ...).
bool may_wrap(const ir::Operation& op, const Facts& facts);

}  // namespace enceladus::analysis
