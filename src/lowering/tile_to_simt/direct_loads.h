// Operands of dots that come straight from memory: loads of a block, by a descriptor or by pointers
// (pointer_blocks.h), which nothing but one dot uses, also through a transpose, a reshape that
// drops extents of 1, a cast or short arithmetic with a scalar. Their home is the dot's fragment
// layout, so that they never go through shared memory. Where nothing is written between the load
// and the dot they need not even be loaded before it: the dot then reads a step's fragments at a
// time, which keeps few registers busy. Not: the reading (direct_dot.cpp).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "analysis/effects.h"
#include "analysis/facts.h"
#include "ir/ir.h"
#include "lowering/tile_to_simt/layouts.h"
#include "lowering/tile_to_simt/pointer_blocks.h"
#include "lowering/tile_to_simt/target.h"

namespace enceladus::simt {

struct DirectOperand {
  const ir::Operation* load;
  // The operand's axes as axes of the load's block.
  std::array<int, 2> axes;
  // What is computed of each element between the load and the dot, the first first.
  std::vector<const ir::Operation*> computed = {};
  // Read where the dot stands, not where the load does.
  bool at_use = false;
  // Whether the dot takes a descriptor's elements as they are.
  bool is_plain() const { return computed.empty() && load->is(ir::Opcode::kDescriptorLoad); }
};

// Whether the load may as well happen where the user stands: in the same region, with nothing
// between them that writes what it reads.
bool can_wait(const ir::Operation& load, const ir::Operation& user,
              const analysis::MemoryEffects& effects);

class DirectLoads {
 public:
  // Empty where the target reads no fragments from memory.
  DirectLoads(const ir::Function& function, const SimtTarget& target, const analysis::Facts& facts,
              int warp_bits);

  // Null where the operand (0 or 1) is no direct load.
  const DirectOperand* operand(const ir::Operation& dot, int operand) const;
  // The layout of a load that a dot takes directly, else null.
  const LinearLayout* layout(const ir::Operation& load) const;
  // Whether the dot reads an operand itself.
  bool reads_at_use(const ir::Operation& dot) const;
  // Whether a dot reads the load, or computes the operation of it, so that nothing is to be done
  // where it stands.
  bool is_read_at_use(const ir::Operation& op) const;

 private:
  void find(const ir::Operation& dot, int operand, const LinearLayout& fragments,
            const analysis::MemoryEffects& effects, PointerBlocks& blocks);

  std::map<std::pair<uint32_t, int>, DirectOperand> operands_;  // by the dot's id
  std::map<uint32_t, LinearLayout> layouts_;                    // by the load's id
  std::set<uint32_t> at_use_;  // ids of loads and of what is computed of them
};

}  // namespace enceladus::simt
