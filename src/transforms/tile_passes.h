// The passes over the tile IR by name, and the order that every target runs them in.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "ir/ir.h"

namespace enceladus::transforms {

struct TilePass {
  std::string_view name;
  bool (*run)(ir::Function& function);  // whether anything changed
};

// Each pass once, for tools and tests.
std::span<const TilePass> tile_passes();
const TilePass* find_tile_pass(std::string_view name);  // null where there is none

// Brings a function from the frontend into the form that lowerings take. `after_pass` is called
// with each pass's name, for dumps and verification.
void optimize(ir::Function& function,
              const std::function<void(std::string_view pass)>& after_pass = {});

}  // namespace enceladus::transforms
