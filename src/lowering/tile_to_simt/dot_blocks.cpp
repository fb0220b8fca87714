// Matrix products without matrix instructions, by blocks of registers: each thread keeps a block of
// rows by columns of the result, and at every depth takes in a column of a and a row of b for it
// from shared memory, each value once, four neighbours at a time where the block has them.
#include <algorithm>

#include "layout/conversion.h"
#include "lowering/tile_to_simt/fragments.h"
#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

namespace {

constexpr int kVectorBits = 2;  // of a block's side, neighbours in memory
constexpr int kLaneColumns = 3;

// Hands out the bits of an axis from the lowest or the highest.
class AxisBits {
 public:
  AxisBits(int axis, int64_t extent) : axis_(axis), high_(log2_of(extent)) {}
  bool empty() const { return low_ == high_; }
  TileBit lowest() { return {axis_, low_++}; }
  TileBit highest() { return {axis_, --high_}; }

 private:
  int axis_, low_ = 0, high_;
};

// The lowest bits of the depth flip a's rows in shared memory by four, for writers whose lanes
// differ in depth.
struct DepthFlips {
  int64_t mask = 0;  // of the depth
  explicit DepthFlips(int row_bits) {
    int bits = std::clamp(row_bits - kVectorBits, 0, 3);
    mask = (int64_t{1} << bits) - 1;
  }
};

}  // namespace

LinearLayout block_layout(std::span<const int64_t> shape, int warp_bits) {
  int rank = static_cast<int>(shape.size());
  AxisBits rows(rank - 2, shape[static_cast<size_t>(rank - 2)]);
  AxisBits columns(rank - 1, shape[static_cast<size_t>(rank - 1)]);
  std::vector<TileBit> registers, lanes, warps;
  for (AxisBits* side : {&columns, &rows})
    for (int i = 0; i < kVectorBits && !side->empty(); ++i) registers.push_back(side->lowest());
  for (int i = 0; i < kLaneBits; ++i) {
    AxisBits& first = i < kLaneColumns ? columns : rows;
    AxisBits& second = i < kLaneColumns ? rows : columns;
    AxisBits& side = first.empty() ? second : first;
    lanes.push_back(side.empty() ? TileBit() : side.lowest());
  }
  for (int i = 0; i < warp_bits; ++i) {
    AxisBits& first = i % 2 == 0 ? rows : columns;
    AxisBits& second = i % 2 == 0 ? columns : rows;
    AxisBits& side = first.empty() ? second : first;
    warps.push_back(side.empty() ? TileBit() : side.highest());
  }
  for (AxisBits* side : {&columns, &rows})
    while (!side->empty()) registers.push_back(side->lowest());
  for (int axis = 0; axis < rank - 2; ++axis)
    for (int bit = 0; bit < log2_of(shape[static_cast<size_t>(axis)]); ++bit)
      registers.push_back({axis, bit});
  return make_layout(shape, registers, lanes, warps);
}

// An operand in shared memory: the side of the result fastest, then the depth, then the batch.
Lowering::Block Lowering::stage_block(const Value* tile, int side, int depth, int64_t flips) {
  const Type& type = tile->type();
  layout::Space space = layout::Space::tile(type.shape());
  auto bit_of = [&](int axis, int bit) {
    return uint64_t{1} << (space.offset(layout::axis_dim(axis)) + bit);
  };
  std::vector<uint64_t> basis;
  std::vector<int> order{side, depth};
  for (int axis = type.rank() - 2; axis-- > 0;) order.push_back(axis);
  for (int axis : order)
    for (int bit = 0; bit < log2_of(type.extent(axis)); ++bit) {
      bool flip = axis == depth && (flips >> bit & 1);
      basis.push_back(bit_of(axis, bit) | (flip ? bit_of(side, kVectorBits + bit) : 0));
    }
  Block block;
  block.memory = LinearLayout({{Dim::kOffset, space.bits()}}, space, std::move(basis));
  LinearLayout layout = assignment_.preferred_or_default(tile);
  Value* array = widened(pull(tile, layout));
  int bytes = byte_size(array->type().dtype());
  block.buffer = shared_buffer(type.elements() * bytes);
  int64_t vector = int64_t{1} << layout::contiguous_register_bits(layout, block.memory,
                                                                  log2_of(std::max(1, 16 / bytes)));
  builder_.create(Opcode::kSharedStore,
                  Values{block.buffer, linear(offset_bases(layout, block.memory)), array,
                         owned_mask(layout, nullptr, array->type())},
                  {}, {{AttributeName::kVector, vector}});
  block.dtype = array->type().dtype();
  return block;
}

// Of an operand at one depth, what each register of the result needs. `place`: of that depth in
// shared memory.
Value* Lowering::block_side(const Block& block, const LinearLayout& result, int side, Value* place,
                            DType dtype) {
  // The result's layout without its other side, as one of the operand at depth 0.
  int rank = static_cast<int>(shape_of(result).size());
  int other = side == rank - 2 ? rank - 1 : rank - 2;
  std::array<std::vector<TileBit>, 3> bits = {
      images(result, Dim::kRegister), images(result, Dim::kLane), images(result, Dim::kWarp)};
  std::vector<int64_t> map(static_cast<size_t>(register_count(result)));
  std::vector<TileBit> kept;
  for (size_t bit = 0; bit < bits[0].size(); ++bit) {
    bool is_kept = bits[0][bit].axis != other;
    for (size_t r = 0; r < map.size(); ++r)
      if (is_kept && (r >> bit & 1)) map[r] |= int64_t{1} << kept.size();
    if (is_kept) kept.push_back(bits[0][bit]);
  }
  for (size_t dim : {size_t{1}, size_t{2}})
    for (TileBit& bit : bits[dim])
      if (bit.axis == other) bit = {};
  LinearLayout needed = make_layout(shape_of(block.memory), kept, bits[1], bits[2]);
  Value* offsets = linear(offset_bases(needed, block.memory));
  int bytes = byte_size(block.dtype);
  int64_t vector =
      int64_t{1} << layout::contiguous_register_bits(
          needed, block.memory, std::min(kVectorBits, log2_of(std::max(1, 16 / bytes))));
  Value* at = builder_.create(Opcode::kXor, {offsets, splat(place, offsets->type())});
  Value* loaded = builder_.create_typed(Opcode::kSharedLoad, {block.buffer, at},
                                        offsets->type().with_dtype(block.dtype),
                                        {{AttributeName::kVector, vector}});
  return registers(builder_.cast(loaded, dtype), std::move(map));
}

Value* Lowering::dot_blocks(const Operation& op) {
  const Type& a = op.operand(0)->type();
  const Type& b = op.operand(1)->type();
  const LinearLayout& layout = *assignment_.home(op.result());
  int rank = a.rank(), rows = rank - 2, columns = rank - 1;
  int64_t flips = DepthFlips(log2_of(a.extent(rows))).mask & (a.extent(columns) - 1);
  Block left = stage_block(op.operand(0), rows, columns, flips);
  Block right = stage_block(op.operand(1), columns, rows, 0);
  Value* acc = pull(op.operand(2), layout);
  builder_.set_location_of(&op);
  DType result = acc->type().dtype();
  bool is_narrow = result == DType::kFloat16 || result == DType::kBFloat16;
  DType sum = is_narrow ? DType::kFloat32 : result;
  Type i32 = Type::number(DType::kInt32);
  auto number = [&](int64_t value) { return builder_.integer(i32, value); };
  Operation* loop = builder_.for_loop(number(0), number(a.extent(columns)), number(1),
                                      Values{builder_.cast(acc, sum)});
  ir::Region* body = loop->region(0);
  scopes_.push_back({nullptr, body});
  place_at(scopes_.size() - 1);
  Value* k = body->argument(0);
  Value* flipped = builder_.create(Opcode::kAnd, {k, number(flips)});
  flipped = builder_.create(Opcode::kShl, {flipped, number(kVectorBits)});
  Value* left_place = builder_.create(Opcode::kMul, {k, number(a.extent(rows))});
  left_place = builder_.create(Opcode::kXor, {left_place, flipped});
  Value* right_place = builder_.create(Opcode::kMul, {k, number(b.extent(columns))});
  Value* x = block_side(left, layout, rows, left_place, sum);
  Value* y = block_side(right, layout, columns, right_place, sum);
  builder_.yield(
      {builder_.create(Opcode::kAdd, {body->argument(1), builder_.create(Opcode::kMul, {x, y})})});
  scopes_.pop_back();
  place_at(scopes_.size() - 1);
  return builder_.cast(loop->result(), result);
}

}  // namespace enceladus::simt
