#include "lowering/tile_to_simt/fragments.h"

#include <algorithm>

namespace enceladus::simt {
namespace {

struct Side {
  int axis;
  int bits;
  int fragment_bits;
  int warps;  // bits of the warp that split this axis

  int repeated_bits() const { return std::max(0, bits - warps - fragment_bits); }
  // What a bit within a fragment is of the tile; none where the tile has it not.
  TileBit bit(int index) const { return index < bits ? TileBit{axis, index} : TileBit(); }
};

void append_fragments(std::vector<TileBit>& registers, const Side& side) {
  for (int i = 0; i < side.repeated_bits(); ++i)
    registers.push_back({side.axis, side.fragment_bits + i});
}

LinearLayout operand_layout(std::span<const int64_t> shape, const Fragment& fragment,
                            const Side& row, const Side& column, std::span<const TileBit> warps) {
  std::vector<TileBit> registers, lanes;
  auto within = [&](const FragmentBit& bit) { return (bit.is_row ? row : column).bit(bit.bit); };
  for (const FragmentBit& bit : fragment.registers) registers.push_back(within(bit));
  for (const FragmentBit& bit : fragment.lanes) lanes.push_back(within(bit));
  append_fragments(registers, column);
  append_fragments(registers, row);
  for (int axis = 0; axis < static_cast<int>(shape.size()) - 2; ++axis)
    for (int bit = 0; bit < log2_of(shape[static_cast<size_t>(axis)]); ++bit)
      registers.push_back({axis, bit});
  return make_layout(shape, registers, lanes, warps);
}

// How many bits of the warp split the rows and the columns of a dot's result.
struct WarpGrid {
  int rows;
  int columns;
};

[[noreturn]] void refuse_grid(const ir::Operation& dot, const MatrixInstruction& instruction,
                              WarpGrid most) {
  auto pair = [](int64_t rows, std::string_view between, int64_t columns) {
    return std::to_string(rows) + std::string(between) + std::to_string(columns);
  };
  const ir::Type& acc = dot.result()->type();
  const ir::FunctionOptions& options = dot.parent()->function()->options();
  fail(DiagnosticId::kDotWarps, dot.location(),
       {pair(options.dot_warps_m, ", ", options.dot_warps_n),
        pair(1 << instruction.m_bits, "x", 1 << instruction.n_bits),
        pair(acc.extent(acc.rank() - 2), "x", acc.extent(acc.rank() - 1)),
        pair(1 << most.rows, ", ", 1 << most.columns)});
}

WarpGrid warp_grid(const ir::Operation& dot, const MatrixInstruction& instruction, int warp_bits) {
  const ir::Type& acc = dot.result()->type();
  const ir::FunctionOptions& options = dot.parent()->function()->options();
  WarpGrid most{std::max(0, log2_of(acc.extent(acc.rank() - 2)) - instruction.m_bits),
                std::max(0, log2_of(acc.extent(acc.rank() - 1)) - instruction.n_bits)};
  if (options.dot_warps_m == 0) {
    int rows = std::min(warp_bits, most.rows);
    return {rows, std::min(warp_bits - rows, most.columns)};
  }
  WarpGrid grid{log2_of(options.dot_warps_m), log2_of(options.dot_warps_n)};
  if (grid.rows > most.rows || grid.columns > most.columns) refuse_grid(dot, instruction, most);
  return grid;
}

}  // namespace

FragmentLayouts fragment_layouts(const ir::Operation& dot, const MatrixInstruction& instruction,
                                 int warp_bits) {
  const ir::Type& a = dot.operand(0)->type();
  const ir::Type& b = dot.operand(1)->type();
  const ir::Type& acc = dot.operand(2)->type();
  int rank = acc.rank(), rows = rank - 2, columns = rank - 1;
  int m = log2_of(acc.extent(rows)), n = log2_of(acc.extent(columns));
  int k = log2_of(a.extent(columns));
  auto [m_warps, n_warps] = warp_grid(dot, instruction, warp_bits);
  std::vector<TileBit> acc_warps, a_warps, b_warps;
  for (int bit = 0; bit < warp_bits; ++bit) {
    bool splits_m = bit < m_warps, splits_n = !splits_m && bit < m_warps + n_warps;
    TileBit row = splits_m ? TileBit{rows, m - m_warps + bit} : TileBit();
    TileBit column = splits_n ? TileBit{columns, n - n_warps + bit - m_warps} : TileBit();
    a_warps.push_back(row);
    b_warps.push_back(column);
    acc_warps.push_back(splits_m ? row : column);
  }
  Side m_side{rows, m, instruction.m_bits, m_warps};
  Side n_side{columns, n, instruction.n_bits, n_warps};
  Side k_row{rows, k, instruction.k_bits, 0}, k_column{columns, k, instruction.k_bits, 0};
  FragmentLayouts result;
  result.accumulator =
      operand_layout(acc.shape(), instruction.accumulator, m_side, n_side, acc_warps);
  result.a = operand_layout(a.shape(), instruction.a, m_side, k_column, a_warps);
  result.b = operand_layout(b.shape(), instruction.b, k_row, n_side, b_warps);
  auto count = [](const Side& side) { return int64_t{1} << side.repeated_bits(); };
  result.fragments = {rank == 3 ? acc.extent(0) : 1, count(m_side), count(n_side), count(k_column)};
  return result;
}

LinearLayout accumulator_layout(const ir::Operation& dot, const SimtTarget& target, int warp_bits) {
  std::optional<MatrixUse> use = target.matrix_use(dot);
  std::span<const int64_t> shape = dot.result()->type().shape();
  if (!use && target.multiplies_blocks) return block_layout(shape, warp_bits);
  if (!use) return default_layout(shape, warp_bits);
  return without_free_registers(fragment_layouts(dot, *use->instruction, warp_bits).accumulator)
      .layout;
}

}  // namespace enceladus::simt
