#include "codegen/cuda/dot_warps.h"

#include <algorithm>
#include <bit>
#include <set>

#include "codegen/cuda/target.h"

namespace enceladus::cuda {
namespace {

using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Value;

int log2_of(int64_t power) { return std::countr_zero(static_cast<uint64_t>(power)); }

// Whether what becomes of the tile is reduced, scanned or multiplied again.
class Uses {
 public:
  bool goes_on(const Value* tile) {
    if (!seen_.insert(tile).second) return false;
    return std::ranges::any_of(tile->users(),
                               [&](const Operation* user) { return use(tile, *user); });
  }

 private:
  bool use(const Value* tile, const Operation& user) {
    if (user.is(Opcode::kDot)) return user.operand(2) != tile || goes_on(user.result());
    if (user.record().op_class == OpClass::kReduction) return true;
    if (user.is(Opcode::kYield)) return carried(tile, user);
    if (user.is(Opcode::kFor)) {
      for (int i = 0; i < user.result_count(); ++i)
        if (user.operand(3 + i) == tile && goes_on(user.region(0)->argument(1 + i))) return true;
      return false;
    }
    bool passes = user.record().op_class == OpClass::kElementwise ||
                  user.record().op_class == OpClass::kShape;
    return passes && user.result_count() == 1 && user.result()->type().is_tile() &&
           goes_on(user.result());
  }

  bool carried(const Value* tile, const Operation& yield) {
    const Operation* around = yield.parent_operation();
    for (int i = 0; around && i < around->result_count(); ++i) {
      if (yield.operand(i) != tile) continue;
      if (goes_on(around->result(i))) return true;
      if (around->is(Opcode::kFor) && goes_on(around->region(0)->argument(1 + i))) return true;
    }
    return false;
  }

  std::set<const Value*> seen_;
};

}  // namespace

void choose_dot_warps(ir::Function& tile) {
  ir::FunctionOptions& options = tile.options();
  if (options.dot_warps_m != 0) return;
  int m = 64, n = 64;  // bits that every dot has beyond one instruction's
  bool any = false, open = true;
  ir::walk(tile.body(), [&](const Operation* op) {
    if (!op->is(Opcode::kDot)) return;
    std::optional<simt::MatrixUse> use = simt_target().matrix_use(*op);
    open = open && use.has_value() && !Uses().goes_on(op->result());
    if (!use) return;
    const ir::Type& acc = op->result()->type();
    m = std::min(m, log2_of(acc.extent(acc.rank() - 2)) - use->instruction->m_bits);
    n = std::min(n, log2_of(acc.extent(acc.rank() - 1)) - use->instruction->n_bits);
    any = true;
  });
  int bits = log2_of(options.num_warps);
  if (!any || !open || m < 0 || n < 0 || m + n < bits) return;
  int rows = 0, columns = 0;
  while (rows + columns < bits) {
    // An instruction has twice as many rows as columns.
    bool split_rows = rows < m && (columns == n || m - rows + 1 > n - columns);
    ++(split_rows ? rows : columns);
  }
  options.dot_warps_m = 1 << rows;
  options.dot_warps_n = 1 << columns;
}

}  // namespace enceladus::cuda
