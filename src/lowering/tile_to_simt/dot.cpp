// Matrix products: by fragments, whose operands are pulled in fragment layouts or read where they
// are used (direct_dot.cpp); others element by element, from operands staged in shared memory.
#include <algorithm>

#include "lowering/tile_to_simt/fragments.h"
#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

// `backend`: what it is called; empty for element by element.
void Lowering::report_dot(const Operation& op, std::string backend) {
  DotReport row;
  row.dot = &op;
  row.backend = std::move(backend);
  row.reason = matmul_loops_.reason(op);
  for (int i = 0; i < 2; ++i) {
    std::string& path = row.operands[static_cast<size_t>(i)];
    bool is_direct = assignment_.direct().operand(op, i) != nullptr;
    path = is_direct ? "direct" : "staged";
    if (is_direct || row.backend.empty()) continue;
    FragmentLayouts layouts =
        fragment_layouts(op, *target_.matrix_use(op)->instruction, assignment_.warp_bits());
    std::optional<LinearLayout> at_hand = assignment_.preferred(op.operand(i));
    LinearLayout wanted = without_free_registers(i == 0 ? layouts.a : layouts.b).layout;
    if (!at_hand || layout::classify(*at_hand, wanted).kind != layout::ConversionKind::kShared)
      path = "registers";
  }
  LinearLayout result = accumulator_layout(op, target_, assignment_.warp_bits());
  int rank = op.result()->type().rank();
  for (const TileBit& bit : images(result, Dim::kWarp))
    if (!bit.none() && bit.axis >= rank - 2)
      row.warps[static_cast<size_t>(bit.axis - rank + 2)] *= 2;
  if (row.backend.empty()) row.backend = "element by element";
  report_.dots.push_back(std::move(row));
}

void Lowering::dot(const Operation& op) {
  std::optional<MatrixUse> use = target_.matrix_use(op);
  report_dot(op, use ? std::string(target_.matrix_name) : "");
  if (use) return set_tile(op.result(), dot_fragments(op, *use));
  set_tile(op.result(), target_.multiplies_blocks ? dot_blocks(op) : dot_elements(op));
}

Value* Lowering::dot_fragments(const Operation& op, const MatrixUse& use) {
  FragmentLayouts layouts = fragment_layouts(op, *use.instruction, assignment_.warp_bits());
  Value* acc = pull_copies(op.operand(2), layouts.accumulator);
  DType accumulator = acc->type().dtype();
  builder_.set_location_of(&op);
  acc = builder_.cast(acc, use.accumulator);
  const DirectLoads& direct = assignment_.direct();
  Value* result = nullptr;
  if (direct.reads_at_use(op)) {
    result = dot_direct(op, use, layouts, acc);
  } else {
    Value* a = pull_copies(op.operand(0), layouts.a);
    Value* b = pull_copies(op.operand(1), layouts.b);
    builder_.set_location_of(&op);
    std::vector<int64_t> fragments(layouts.fragments.begin(), layouts.fragments.end());
    result = multiply_fragments(use, {a, b, acc, nullptr}, std::move(fragments));
  }
  result = builder_.cast(result, accumulator);
  CompactLayout compact = without_free_registers(layouts.accumulator);
  fragments_.push_back(compact.layout);
  int64_t kept = register_count(compact.layout);
  if (kept == result->type().elements()) return result;
  std::vector<int64_t> map(static_cast<size_t>(kept));
  for (size_t r = compact.map.size(); r-- > 0;)
    map[static_cast<size_t>(compact.map[r])] = static_cast<int64_t>(r);
  return registers(result, std::move(map));
}

// `operands`: a, b, the accumulator, and the only fragment along the inner dimension to multiply or
// null for all.
Value* Lowering::multiply_fragments(const MatrixUse& use, Values operands,
                                    std::vector<int64_t> fragments) {
  operands[0] = builder_.cast(operands[0], use.a);
  operands[1] = builder_.cast(operands[1], use.b);
  auto registers_of = [](const Fragment& fragment) {
    return int64_t{1} << fragment.registers.size();
  };
  const MatrixInstruction& instruction = *use.instruction;
  std::vector<int64_t> counts{registers_of(instruction.a), registers_of(instruction.b),
                              registers_of(instruction.accumulator)};
  Type type = operands[2]->type();
  return builder_
      .create(Opcode::kMma, operands, std::span(&type, 1),
              {{AttributeName::kInstruction, std::string(instruction.name)},
               {AttributeName::kFragments, std::move(fragments)},
               {AttributeName::kFragmentRegisters, std::move(counts)}})
      ->result();
}

namespace {

// How the lowest bits of a row's number flip its columns in shared memory, for neighbouring rows
// that would begin in the same bank.
std::vector<int64_t> flips_of_rows(int64_t columns, int bytes) {
  constexpr int64_t kBankBytes = 4, kAllBanksBytes = 128;
  constexpr int kRowBits = 3;  // rows that the lanes of a warp read at once
  std::vector<int64_t> flips;
  int64_t next = std::max<int64_t>(1, kBankBytes / bytes);
  for (int bit = 0; bit < kRowBits; ++bit) {
    bool begins_alike = (columns * bytes) << bit >= kAllBanksBytes;
    flips.push_back(begins_alike && next < columns ? next : 0);
    if (flips.back() != 0) next *= 2;
  }
  return flips;
}

}  // namespace

// The tile in shared memory, row-major with flipped columns: where it lies.
Value* Lowering::staged(const Value* tile, Flips flips) {
  LinearLayout layout = assignment_.preferred_or_default(tile);
  Value* array = widened(pull(tile, layout));
  const Type& type = tile->type();
  int64_t count = type.elements();
  std::vector<uint64_t> basis;
  for (int bit = 0; bit < log2_of(count); ++bit) basis.push_back(uint64_t{1} << bit);
  int first_row_bit = log2_of(type.extent(type.rank() - 1));
  for (size_t bit = 0; bit < flips.size() && first_row_bit + bit < basis.size(); ++bit)
    basis[static_cast<size_t>(first_row_bit) + bit] |= static_cast<uint64_t>(flips[bit]);
  LinearLayout memory({{Dim::kOffset, log2_of(count)}}, layout.out(), std::move(basis));
  Value* buffer = shared_buffer(count * byte_size(array->type().dtype()));
  Value* mask = owned_mask(layout, nullptr, array->type());
  builder_.create(Opcode::kSharedStore,
                  Values{buffer, linear(offset_bases(layout, memory)), array, mask}, {},
                  {{AttributeName::kVector, int64_t{1}}});
  return buffer;
}

// The offsets of an operand's elements (at depth 0) that each accumulator register needs.
Value* Lowering::staged_offsets(const LinearLayout& accumulator, const Type& operand,
                                int depth_axis, Flips flips) {
  int rank = operand.rank();
  Bases sum;
  auto merge = [&](std::vector<int64_t>& into, const std::vector<int64_t>& bases, int axis,
                   int64_t stride) {
    into.resize(bases.size());
    for (size_t i = 0; i < bases.size(); ++i) {
      into[i] ^= bases[i] * stride;
      for (size_t bit = 0; axis == rank - 2 && bit < flips.size(); ++bit)
        if (bases[i] >> bit & 1) into[i] ^= flips[bit];
    }
  };
  int64_t stride = 1;
  for (int axis = rank; axis-- > 0;) {
    if (axis != depth_axis) {
      Bases bases = coordinate_bases(accumulator, axis);
      merge(sum.registers, bases.registers, axis, stride);
      merge(sum.lanes, bases.lanes, axis, stride);
      merge(sum.warps, bases.warps, axis, stride);
    }
    stride *= operand.extent(axis);
  }
  return linear(sum);
}

Value* Lowering::dot_elements(const Operation& op) {
  const Type& a = op.operand(0)->type();
  const Type& b = op.operand(1)->type();
  const LinearLayout& layout = *assignment_.home(op.result());
  int rank = a.rank();
  int64_t depth = a.extent(rank - 1);
  std::vector<int64_t> flips = flips_of_rows(depth, byte_size(a.dtype()));
  Value* a_buffer = staged(op.operand(0), flips);
  Value* b_buffer = staged(op.operand(1), {});
  Value* acc = pull(op.operand(2), layout);
  builder_.set_location_of(&op);
  Value* a_offsets = staged_offsets(layout, a, rank - 1, flips);
  Value* b_offsets = staged_offsets(layout, b, rank - 2, {});
  Type i32 = Type::number(DType::kInt32);
  Value* zero = builder_.integer(i32, 0);
  Value* one = builder_.integer(i32, 1);
  Value* end = builder_.integer(i32, depth);
  Value* row = builder_.integer(i32, b.extent(rank - 1));
  Operation* loop = builder_.for_loop(zero, end, one, Values{acc});
  ir::Region* body = loop->region(0);
  within(body, [&] {
    Value* k = body->argument(0);
    auto element = [&](Value* buffer, Value* offsets, Value* at, const Type& operand) {
      Value* place = builder_.create(Opcode::kXor, {offsets, splat(at, offsets->type())});
      DType stored = is_bool(operand.dtype()) ? DType::kUInt8 : operand.dtype();
      Value* loaded = builder_.create_typed(Opcode::kSharedLoad, {buffer, place},
                                            offsets->type().with_dtype(stored),
                                            {{AttributeName::kVector, int64_t{1}}});
      return builder_.cast(loaded, acc->type().dtype());
    };
    Value* left = element(a_buffer, a_offsets, k, a);
    Value* right = element(b_buffer, b_offsets, builder_.create(Opcode::kMul, {k, row}), b);
    Value* product = builder_.create(Opcode::kMul, {left, right});
    builder_.yield({builder_.create(Opcode::kAdd, {body->argument(1), product})});
  });
  return loop->result();
}

}  // namespace enceladus::simt
