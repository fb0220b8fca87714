// What a lowering did, for `explain` and for the user's warnings: how each dot is computed, where
// tiles live, what moves between layouts. Operations and values are those of the tile IR. Not: how
// it is shown (explain.h).
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "layout/conversion.h"
#include "lowering/tile_to_simt/layouts.h"

namespace enceladus::simt {

struct DotReport {
  const ir::Operation* dot = nullptr;
  std::string backend;                  // "simdgroup", "mpp", "mma", "wgmma", "element by element"
  std::array<int, 2> warps = {1, 1};    // the grid over the result
  std::array<std::string, 2> operands;  // "direct", "registers", "staged", "TMA ring"
  std::string reason;                   // why not the backend that was asked for
};

struct TileReport {
  const ir::Value* tile;
  LinearLayout layout;
};

struct ConversionReport {
  const ir::Value* tile;
  Location location;  // of what needs it in the other layout
  layout::ConversionKind kind;
};

struct LoweringReport {
  std::vector<DotReport> dots;
  std::vector<TileReport> tiles;
  std::vector<ConversionReport> conversions;
  // By load or store of a descriptor: what carries it, where that is a copy engine.
  std::map<const ir::Operation*, std::string> engines;
  // By dot or store of a descriptor: why the asynchronous units do not take it.
  std::map<const ir::Operation*, std::string> refusals;
  std::vector<std::string> warnings;
};

}  // namespace enceladus::simt
