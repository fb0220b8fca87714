#include "lowering/tile_to_simt/fragments.h"

#include <algorithm>

namespace enceladus::simt {
namespace {

constexpr int kFragmentBits = 3;

// Bit of the row or column of an 8x8 fragment that each lane bit selects: with q = lane / 4, row =
// (q & 4) + (lane / 2) % 4, column = (q & 2) * 2 + (lane % 2) * 2. The hardware's vendor does not
// document it; `doctor` checks it on a device.
struct FragmentBit {
  bool row;
  int bit;
};
constexpr std::array<FragmentBit, kLaneBits> kFragment = {
    {{false, 1}, {true, 0}, {true, 1}, {false, 2}, {true, 2}}};

struct Side {
  int axis;
  int bits;
  int warps;  // bits of the warp that split this axis
};

void append_fragments(std::vector<TileBit>& registers, const Side& side) {
  for (int bit = kFragmentBits; bit < side.bits - side.warps; ++bit)
    registers.push_back({side.axis, bit});
}

// `warp_sides`: for each warp bit the side whose next upper bit it selects, or null: a free bit.
LinearLayout operand_layout(std::span<const int64_t> shape, const Side& row, const Side& column,
                            std::span<const TileBit> warps) {
  std::vector<TileBit> registers, lanes;
  if (column.bits > 0)
    registers.push_back({column.axis, 0});
  else
    registers.push_back({});
  append_fragments(registers, column);
  append_fragments(registers, row);
  for (int axis = 0; axis < static_cast<int>(shape.size()) - 2; ++axis)
    for (int bit = 0; bit < log2_of(shape[static_cast<size_t>(axis)]); ++bit)
      registers.push_back({axis, bit});
  for (const FragmentBit& lane : kFragment) {
    const Side& side = lane.row ? row : column;
    lanes.push_back(lane.bit < side.bits ? TileBit{side.axis, lane.bit} : TileBit());
  }
  return make_layout(shape, registers, lanes, warps);
}

}  // namespace

FragmentLayouts fragment_layouts(const ir::Operation& dot, int warp_bits) {
  const ir::Type& a = dot.operand(0)->type();
  const ir::Type& b = dot.operand(1)->type();
  const ir::Type& acc = dot.operand(2)->type();
  int rank = acc.rank(), rows = rank - 2, columns = rank - 1;
  int m = log2_of(acc.extent(rows)), n = log2_of(acc.extent(columns));
  int k = log2_of(a.extent(columns));
  int m_warps = std::min(warp_bits, std::max(0, m - kFragmentBits));
  int n_warps = std::min(warp_bits - m_warps, std::max(0, n - kFragmentBits));
  std::vector<TileBit> acc_warps, a_warps, b_warps;
  for (int bit = 0; bit < warp_bits; ++bit) {
    bool splits_m = bit < m_warps, splits_n = !splits_m && bit < m_warps + n_warps;
    TileBit row = splits_m ? TileBit{rows, m - m_warps + bit} : TileBit();
    TileBit column = splits_n ? TileBit{columns, n - n_warps + bit - m_warps} : TileBit();
    a_warps.push_back(row);
    b_warps.push_back(column);
    acc_warps.push_back(splits_m ? row : column);
  }
  Side m_side{rows, m, m_warps}, n_side{columns, n, n_warps};
  FragmentLayouts result;
  result.accumulator = operand_layout(acc.shape(), m_side, n_side, acc_warps);
  result.a = operand_layout(a.shape(), m_side, {columns, k, 0}, a_warps);
  result.b = operand_layout(b.shape(), {rows, k, 0}, n_side, b_warps);
  auto count = [](const Side& side) {
    return int64_t{1} << std::max(0, side.bits - side.warps - kFragmentBits);
  };
  result.fragments = {rank == 3 ? acc.extent(0) : 1, count(m_side), count(n_side),
                      count({columns, k, 0})};
  return result;
}

LinearLayout accumulator_layout(const ir::Operation& dot, int warp_bits) {
  if (!has_fragments(dot)) return default_layout(dot.result()->type().shape(), warp_bits);
  return without_free_registers(fragment_layouts(dot, warp_bits).accumulator).layout;
}

bool has_fragments(const ir::Operation& dot) {
  auto fits = [](DType dtype) {
    return dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat32;
  };
  return fits(dot.operand(0)->type().dtype()) && fits(dot.operand(1)->type().dtype()) &&
         fits(dot.operand(2)->type().dtype());
}

}  // namespace enceladus::simt
