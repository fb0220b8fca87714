// What a producer must compute by itself: the scalars that decide when and where its loads happen.
// Part of hopper_plan.h's matching; hopper_producer.cpp writes what is found here.
#pragma once

#include <string>
#include <vector>

#include "analysis/effects.h"
#include "ir/ir.h"

namespace enceladus::simt {

struct ProducerSlice {
  std::vector<bool> values;   // by value id
  std::vector<bool> parents;  // by operation id: control operations with a load in them

  bool needs(const ir::Value* value) const { return values[value->id()]; }
  bool holds_load(const ir::Operation* control) const { return parents[control->id()]; }
};

class Slicer {
 public:
  Slicer(const ir::Function& function, const analysis::MemoryEffects& effects)
      : effects_(effects),
        slice_{std::vector<bool>(function.value_count()),
               std::vector<bool>(function.operation_count())} {}

  // Adds the load's control flow and these scalars. Where that is impossible the slice stays as it
  // was; returns why, or an empty string.
  std::string add(const ir::Operation& load, std::span<const ir::Value* const> scalars);

  const ProducerSlice& slice() const { return slice_; }

 private:
  void value(const ir::Value* value);
  void argument(const ir::Value* value);
  void result(const ir::Value* value);
  void around(const ir::Operation& load);
  void loop_bounds(const ir::Operation* loop);

  const analysis::MemoryEffects& effects_;
  ProducerSlice slice_;
};

}  // namespace enceladus::simt
