// The axis info of each result of an operation from that of its operands. Part of facts.h.
#pragma once

#include "analysis/axis_info.h"
#include "analysis/range_rules.h"

namespace enceladus::analysis {

class AxisSource : public RangeSource {
 public:
  virtual const AxisInfo& axis_info(const ir::Value* value) const = 0;

 protected:
  ~AxisSource() = default;
};

// For operations without regions; nothing is known where there is no rule.
AxisInfo result_axis_info(const ir::Operation& op, const AxisSource& operands);

// What holds for both.
AxisInfo meet(const AxisInfo& a, const AxisInfo& b);

// A power of two that divides every element.
int64_t element_divisibility(const AxisInfo& info, const ir::Type& type);

}  // namespace enceladus::analysis
