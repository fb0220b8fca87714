// The group that is being filled: its roots, all that they compute, and what they read and write,
// so that the cutter can ask whether one more root may join. The rule behind every answer: at each
// element a group makes all its reads before all its writes, and nothing depends on another
// element's write (plan.h).
#pragma once

#include "analysis/effects.h"
#include "lowering/tile_to_loop/cone.h"
#include "lowering/tile_to_loop/operation_order.h"
#include "lowering/tile_to_loop/plan.h"

namespace enceladus::loop {

// A root and the loop nest that it asks for.
struct NewRoot {
  Root root;
  std::vector<int64_t> space;
  int inner_axis = -1;
  bool is_ordered = false, is_reverse = false;
};

class PendingGroup {
 public:
  // `buffer_of` is the plan's, and grows while the group does.
  PendingGroup(const analysis::MemoryEffects& effects, const OperationOrder& order,
               const std::vector<int>& buffer_of)
      : effects_(effects), order_(order), buffer_of_(buffer_of) {}

  bool is_empty() const { return group_.roots.empty(); }
  bool may_join(const NewRoot& added, const Cone& cone) const;
  void add(const NewRoot& added, const Cone& cone);
  // Whether a root of the group gives the value, which is there only behind the group.
  bool gives(const ir::Value* value) const;
  bool writes_buffer(int buffer) const;

  // Loads of a root that would see memory too late: what `root` itself, or anything that runs
  // between the load and `root` outside this group, writes over.
  bool is_overwritten(const ConeEntry& load, const ir::Operation* root) const;

  struct Finished {
    Group group;
    Cone cone;
  };
  Finished take();  // leaves the group empty

 private:
  bool has_nest_for(const NewRoot& added) const;
  bool gives_what_is_read(const Cone& cone) const;
  bool writes_what_is_read(const Cone& cone) const;
  bool reads_what_is_written(const Root& root) const;
  bool writes_under(const ir::Operation* writer, const ConeEntry& entry) const;

  const analysis::MemoryEffects& effects_;
  const OperationOrder& order_;
  const std::vector<int>& buffer_of_;
  Group group_;
  Cone cone_;
  std::vector<const ir::Value*> given_;    // by its reductions, scans and atomics
  std::vector<const ir::Value*> written_;  // tiles that it writes at its own index
  std::vector<int> buffers_;               // that it writes
  std::vector<const ir::Operation*> writes_;
};

}  // namespace enceladus::loop
