// Loads and stores by tiles of pointers that access a block, as those of a descriptor do: element
// (i, j) lies at a scalar pointer plus i and j times scalar strides, one of them 1, and the mask
// bounds i and j. Changes nothing. Not: the access (blocks.cpp).
#pragma once

#include <map>
#include <optional>

#include "analysis/affine.h"
#include "analysis/mask.h"
#include "ir/ir.h"

namespace enceladus::simt {

struct PointerBlock {
  analysis::Affine place;
  analysis::MaskForm mask;  // bounds with stride 1 and scalar conditions
};

class PointerBlocks {
 public:
  PointerBlocks(const ir::Function& function, const analysis::Facts& facts)
      : places_(function, analysis::AffineForms::Meaning::kExact, &facts),
        masks_(function, analysis::AffineForms::Meaning::kWrapping, &facts) {}

  // Null where the load or store accesses no block.
  const PointerBlock* of(const ir::Operation& access);

 private:
  std::optional<PointerBlock> compute(const ir::Operation& access);

  analysis::AffineForms places_, masks_;
  std::map<uint32_t, std::optional<PointerBlock>> blocks_;  // by the access's id
};

// The scalar that all elements are, or a constant tile itself; null for others.
const ir::Value* same_everywhere(const ir::Value* tile);

}  // namespace enceladus::simt
