#include "lowering/tile_to_simt/matrix_loads.h"

#include <algorithm>

#include "layout/conversion.h"
#include "lowering/tile_to_simt/lowering.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::Opcode;
using ir::Value;
using layout::axis_dim;
using layout::Space;

namespace {

constexpr int kRowBytes = 16;
constexpr int kBankBytes = 128;  // of all banks
constexpr int kRowBits = 3;      // 8 rows a matrix

bool is(const TileBit& bit, int axis, int index) { return bit.axis == axis && bit.bit == index; }

// Whether the bits are the lowest ones of the axis, in order.
bool are_lowest(std::span<const TileBit> bits, int axis) {
  for (size_t i = 0; i < bits.size(); ++i)
    if (!is(bits[i], axis, static_cast<int>(i))) return false;
  return true;
}

}  // namespace

std::optional<MatrixLoads> matrix_loads(const LinearLayout& to, int axis, int element_bytes) {
  if (element_bytes > 4) return std::nullopt;
  std::vector<TileBit> registers = images(to, Dim::kRegister), lanes = images(to, Dim::kLane);
  std::vector<TileBit> warps = images(to, Dim::kWarp);
  auto is_none = [](const TileBit& bit) { return bit.none(); };
  if (std::ranges::any_of(registers, is_none) || std::ranges::any_of(lanes, is_none))
    return std::nullopt;
  auto word = static_cast<size_t>(log2_of(4 / element_bytes));  // register bits within a word
  if (registers.size() < word) return std::nullopt;
  auto first = registers.begin() + static_cast<std::ptrdiff_t>(word);
  std::vector<TileBit> inner(registers.begin(), first);
  inner.insert(inner.end(), lanes.begin(), lanes.begin() + 2);
  std::vector<TileBit> outer(lanes.begin() + 2, lanes.end());
  MatrixLoads result{};
  if (are_lowest(inner, axis))
    result.transposed = false;
  else if (element_bytes == 2 && are_lowest(outer, axis))
    result.transposed = true;
  else
    return std::nullopt;
  size_t matrix_bits = std::min<size_t>(2, registers.size() - word);
  result.matrices = 1 << matrix_bits;
  // Lanes that point to no row of their own point to where another does.
  std::vector<TileBit> pointers = result.transposed ? inner : outer;
  for (size_t i = 0; i < 2; ++i)
    pointers.push_back(i < matrix_bits ? registers[word + i] : TileBit());
  std::vector<TileBit> rest(first + static_cast<std::ptrdiff_t>(matrix_bits), registers.end());
  result.rows = make_layout(shape_of(to), rest, pointers, warps);
  return result;
}

LinearLayout swizzled_memory(std::span<const int64_t> shape, int axis, int element_bytes) {
  Space tile = Space::tile(shape);
  int rank = static_cast<int>(shape.size());
  auto bit_of = [&](int of_axis, int bit) {
    return uint64_t{1} << (tile.offset(axis_dim(of_axis)) + bit);
  };
  int columns = log2_of(shape[static_cast<size_t>(axis)]);
  int piece = log2_of(std::max(1, kRowBytes / element_bytes));
  int exchanged =
      std::clamp(std::min(columns, log2_of(kBankBytes / element_bytes)) - piece, 0, kRowBits);
  std::vector<uint64_t> basis;
  for (int bit = 0; bit < columns; ++bit) basis.push_back(bit_of(axis, bit));
  int row = 0;
  for (int other = rank; other-- > 0;) {
    if (other == axis) continue;
    for (int bit = 0; bit < log2_of(shape[static_cast<size_t>(other)]); ++bit, ++row) {
      int partner = row - (kRowBits - exchanged);
      bool swaps = partner >= 0 && partner < exchanged;
      basis.push_back(bit_of(other, bit) | (swaps ? bit_of(axis, piece + partner) : 0));
    }
  }
  return LinearLayout(Space{{Dim::kOffset, tile.bits()}}, tile, std::move(basis));
}

Arranged along(const LinearLayout& layout, int axis) {
  std::vector<TileBit> registers = images(layout, Dim::kRegister);
  std::vector<size_t> order(registers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  auto rank_of = [&](size_t i) {
    bool is_on = registers[i].axis == axis;
    return is_on ? registers[i].bit : 64 + static_cast<int>(i);
  };
  std::ranges::sort(order, {}, rank_of);
  Arranged result;
  std::vector<TileBit> sorted;
  for (size_t i : order) sorted.push_back(registers[i]);
  for (int64_t r = 0; r < register_count(layout); ++r) {
    int64_t former = 0;
    for (size_t bit = 0; bit < order.size(); ++bit)
      if (r >> bit & 1) former |= int64_t{1} << order[bit];
    result.map.push_back(former);
  }
  result.layout =
      make_layout(shape_of(layout), sorted, images(layout, Dim::kLane), images(layout, Dim::kWarp));
  return result;
}

Value* Lowering::convert_by_matrix_loads(Value* array, const LinearLayout& from,
                                         const LinearLayout& to) {
  int bytes = byte_size(array->type().dtype());
  if (array->type().is_bool()) return nullptr;
  // Along the axis on which the writer has the longest vectors.
  struct Way {
    Arranged from;
    LinearLayout memory;
    MatrixLoads loads;
    int vector = -1;  // bits
  } best;
  for (int axis = static_cast<int>(shape_of(to).size()); axis-- > 0;) {
    std::optional<MatrixLoads> loads = matrix_loads(to, axis, bytes);
    if (!loads) continue;
    Way way{simt::along(from, axis), swizzled_memory(shape_of(to), axis, bytes), *loads};
    way.vector =
        layout::contiguous_register_bits(way.from.layout, way.memory, log2_of(kRowBytes / bytes));
    if (way.vector > best.vector) best = std::move(way);
  }
  if (best.vector < 0) return nullptr;
  const LinearLayout& writer = best.from.layout;
  Value* buffer = shared_buffer(from.out().size() * bytes);
  Value* stored = registers(array, best.from.map);
  builder_.create(Opcode::kSharedStore,
                  Values{buffer, linear(offset_bases(writer, best.memory)), stored,
                         owned_mask(writer, nullptr, array->type())},
                  {}, {{AttributeName::kVector, int64_t{1} << best.vector}});
  return builder_.create_typed(
      Opcode::kMatrixLoad, {buffer, linear(offset_bases(best.loads.rows, best.memory))},
      array_type(array->type(), to),
      {{AttributeName::kMatrices, int64_t{best.loads.matrices}},
       {AttributeName::kTransposed, int64_t{best.loads.transposed ? 1 : 0}}});
}

}  // namespace enceladus::simt
