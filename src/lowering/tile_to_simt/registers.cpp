#include "lowering/tile_to_simt/registers.h"

#include <algorithm>

#include "ir/debug_text.h"

namespace enceladus::simt {
namespace {

using ir::Operation;
using ir::Value;

constexpr int64_t kWarned = 128, kMost = 256;
constexpr int kMostWarps = 32;

std::string described(const Value& tile) {
  std::string name = tile.name().empty() ? "" : "`" + std::string(tile.name()) + "`, ";
  return name + "a tile of " + ir::to_user_string(tile.type());
}

std::string remedy(const Value& tile, int num_warps) {
  int warps = num_warps;
  while (warps < kMostWarps && registers_per_thread(tile.type(), warps) > kWarned) warps *= 2;
  std::string smaller = "use smaller blocks";
  return warps == num_warps ? smaller : smaller + " or num_warps=" + std::to_string(warps);
}

}  // namespace

int64_t registers_per_thread(const ir::Type& tile, int num_warps) {
  int64_t words = tile.is_pointer() ? 2 : std::max(1, byte_size(tile.dtype()) / 4);
  return std::max<int64_t>(1, tile.elements() * words / (kLanes * num_warps));
}

std::vector<std::string> check_registers(const ir::Function& function,
                                         const Assignment& assignment) {
  int num_warps = function.options().num_warps;
  const Operation* largest = nullptr;
  const Value* tile = nullptr;
  ir::walk(function.body(), [&](const Operation* op) {
    if (assignment.direct().is_read_at_use(*op)) return;
    for (const Value* result : op->results()) {
      if (!result->type().is_tile() || !assignment.home(result)) continue;
      if (tile && registers_per_thread(result->type(), num_warps) <=
                      registers_per_thread(tile->type(), num_warps))
        continue;
      tile = result;
      largest = op;
    }
  });
  if (!tile) return {};
  int64_t registers = registers_per_thread(tile->type(), num_warps);
  if (registers > kMost)
    fail(DiagnosticId::kTileRegisters, largest->location(),
         {described(*tile), std::to_string(registers), std::to_string(num_warps),
          remedy(*tile, num_warps)});
  if (registers <= kWarned) return {};
  return {ir::place_of(*largest) + ": " + described(*tile) + ", takes " +
          std::to_string(registers) +
          " registers a thread with num_warps=" + std::to_string(num_warps) +
          ", more than a GPU has without spilling (about 128): " + remedy(*tile, num_warps)};
}

}  // namespace enceladus::simt
