// Which layout each tile is computed in. Some tiles have a *home*: the layout in which the
// operation that makes them leaves them. The others are *cheap*: constants, ranges, splats, shape
// operations and short arithmetic on these. They have no home and are recomputed in whatever layout
// a user wants, which costs less than moving them.
//
// Homes come from anchors: an access of memory is coalesced and as wide as axis info allows, a dot
// has fragments, a reduction leaves the slice of its operand's layout. Elementwise operations take
// the layout of their first operand that has one. A loop's variable takes the layout of the value
// that the body hands on, so that the loop converts nothing. Changes no IR.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analysis/facts.h"
#include "ir/ir.h"
#include "lowering/tile_to_simt/direct_loads.h"
#include "lowering/tile_to_simt/hopper_plan.h"
#include "lowering/tile_to_simt/layouts.h"
#include "lowering/tile_to_simt/target.h"

namespace enceladus::simt {

class Assignment {
 public:
  Assignment(const ir::Function& function, const analysis::Facts& facts, const SimtTarget& target,
             const HopperPlan& hopper);

  // Null where the tile is cheap.
  const LinearLayout* home(const ir::Value* tile) const;
  // The layout that the tile is at hand in without moving anything: its home, or that of the tile
  // which it only rearranges. Null for other cheap tiles.
  std::optional<LinearLayout> preferred(const ir::Value* tile) const;
  // preferred, else default_layout.
  LinearLayout preferred_or_default(const ir::Value* tile) const;
  // The layout in which a store, an atomic or a print uses its operands.
  LinearLayout access_layout(const ir::Operation& access) const;

  int warp_bits() const { return warp_bits_; }
  const DirectLoads& direct() const { return direct_; }

 private:
  friend class Assigner;
  void set_home(const ir::Value* tile, LinearLayout layout);

  int warp_bits_;
  DirectLoads direct_;
  std::vector<std::optional<LinearLayout>> homes_;     // by value id
  std::vector<std::optional<LinearLayout>> accesses_;  // by operation id
};

// The elements, at most 16 bytes of them, that one access may move at once for all the memory
// operation's vectors in `layout`: its pointers contiguous and aligned, its mask uniform in each.
int access_vector(const ir::Operation& access, const LinearLayout& layout,
                  const analysis::Facts& facts);
// The same for two registers of a fragment that is accessed without its mask.
int inside_vector(const ir::Operation& access, const LinearLayout& layout,
                  const analysis::Facts& facts);

}  // namespace enceladus::simt
