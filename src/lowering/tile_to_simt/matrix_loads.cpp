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

Value* Lowering::convert_by_matrix_loads(Value* array, const LinearLayout& from,
                                         const LinearLayout& to) {
  int bytes = byte_size(array->type().dtype());
  if (array->type().is_bool()) return nullptr;
  // Along the writer's vectors where that serves.
  int rank = static_cast<int>(shape_of(to).size());
  TileBit lowest = register_bits(from) > 0 ? image(from, Dim::kRegister, 0) : TileBit();
  std::vector<int> axes{lowest.none() ? rank - 1 : lowest.axis};
  for (int axis = rank; axis-- > 0;)
    if (axis != axes.front()) axes.push_back(axis);
  for (int axis : axes) {
    std::optional<MatrixLoads> loads = matrix_loads(to, axis, bytes);
    if (!loads) continue;
    LinearLayout memory = swizzled_memory(shape_of(to), axis, bytes);
    Value* buffer = shared_buffer(from.out().size() * bytes);
    int vector = layout::contiguous_register_bits(from, memory, log2_of(kRowBytes / bytes));
    builder_.create(Opcode::kSharedStore,
                    Values{buffer, linear(offset_bases(from, memory)), array,
                           owned_mask(from, nullptr, array->type())},
                    {}, {{AttributeName::kVector, int64_t{1} << vector}});
    return builder_.create_typed(
        Opcode::kMatrixLoad, {buffer, linear(offset_bases(loads->rows, memory))},
        array_type(array->type(), to),
        {{AttributeName::kMatrices, int64_t{loads->matrices}},
         {AttributeName::kTransposed, int64_t{loads->transposed ? 1 : 0}}});
  }
  return nullptr;
}

}  // namespace enceladus::simt
