// The interval of each result of an operation from those of its operands. Part of facts.h.
#pragma once

#include "analysis/range.h"
#include "ir/ir.h"

namespace enceladus::analysis {

// Where the operands' ranges come from.
class RangeSource {
 public:
  virtual Range range(const ir::Value* value) const = 0;

 protected:
  ~RangeSource() = default;
};

// The range of an operation's result at its own type; for operations without regions. Everything
// the type holds where nothing better is known, and for what is no integer.
Range result_range(const ir::Operation& op, int result, const RangeSource& operands);

// The exact result before it wraps to the type; none for operations that do not wrap.
std::optional<Range> exact_range(const ir::Operation& op, const RangeSource& operands);

// The range as a value of the dtype: itself where it fits, else everything.
Range wrapped(const Range& exact, DType dtype);

}  // namespace enceladus::analysis
