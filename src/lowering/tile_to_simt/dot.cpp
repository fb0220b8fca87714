// Matrix products: float types over 8x8 fragments, whose operands are pulled in fragment layouts
// (from memory directly, where a load's only use is the dot); others element by element, from
// operands staged in shared memory.
#include "lowering/tile_to_simt/fragments.h"
#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

void Lowering::dot(const Operation& op) {
  std::optional<MatrixUse> use = target_.matrix_use(op);
  if (use) return set_tile(op.result(), dot_fragments(op, *use));
  set_tile(op.result(), target_.multiplies_blocks ? dot_blocks(op) : dot_elements(op));
}

Value* Lowering::dot_fragments(const Operation& op, const MatrixUse& use) {
  const MatrixInstruction& instruction = *use.instruction;
  FragmentLayouts layouts = fragment_layouts(op, instruction, assignment_.warp_bits());
  Value* a = pull_copies(op.operand(0), layouts.a);
  Value* b = pull_copies(op.operand(1), layouts.b);
  Value* acc = pull_copies(op.operand(2), layouts.accumulator);
  builder_.set_location_of(&op);
  DType accumulator = acc->type().dtype();
  a = builder_.cast(a, use.a);
  b = builder_.cast(b, use.b);
  acc = builder_.cast(acc, use.accumulator);
  auto registers_of = [](const Fragment& fragment) {
    return int64_t{1} << fragment.registers.size();
  };
  std::vector<int64_t> fragments(layouts.fragments.begin(), layouts.fragments.end());
  std::vector<int64_t> counts{registers_of(instruction.a), registers_of(instruction.b),
                              registers_of(instruction.accumulator)};
  Value* result =
      builder_.create_typed(Opcode::kMma, {a, b, acc}, acc->type(),
                            {{AttributeName::kInstruction, std::string(instruction.name)},
                             {AttributeName::kFragments, std::move(fragments)},
                             {AttributeName::kFragmentRegisters, std::move(counts)}});
  result = builder_.cast(result, accumulator);
  CompactLayout compact = without_free_registers(layouts.accumulator);
  int64_t kept = register_count(compact.layout);
  if (kept == result->type().elements()) return result;
  std::vector<int64_t> map(static_cast<size_t>(kept));
  for (size_t r = compact.map.size(); r-- > 0;)
    map[static_cast<size_t>(compact.map[r])] = static_cast<int64_t>(r);
  return registers(result, std::move(map));
}

// The tile in shared memory, row-major: where it lies.
Value* Lowering::staged(const Value* tile) {
  LinearLayout layout = assignment_.preferred_or_default(tile);
  Value* array = widened(pull(tile, layout));
  const Type& type = tile->type();
  int64_t count = type.elements();
  LinearLayout memory = LinearLayout::identity(Dim::kOffset, Dim::kAxis0, log2_of(count))
                            .with_out_space(layout.out());
  Value* buffer = shared_buffer(count * byte_size(array->type().dtype()));
  Value* mask = owned_mask(layout, nullptr, array->type());
  builder_.create(Opcode::kSharedStore,
                  Values{buffer, linear(offset_bases(layout, memory)), array, mask}, {},
                  {{AttributeName::kVector, int64_t{1}}});
  return buffer;
}

// The offsets of an operand's elements (at depth 0) that each accumulator register needs.
Value* Lowering::staged_offsets(const LinearLayout& accumulator, const Type& operand,
                                int depth_axis) {
  int rank = operand.rank();
  Bases sum;
  auto merge = [](std::vector<int64_t>& into, const std::vector<int64_t>& bases, int64_t stride) {
    into.resize(bases.size());
    for (size_t i = 0; i < bases.size(); ++i) into[i] += bases[i] * stride;
  };
  int64_t stride = 1;
  for (int axis = rank; axis-- > 0;) {
    if (axis != depth_axis) {
      Bases bases = coordinate_bases(accumulator, axis);
      merge(sum.registers, bases.registers, stride);
      merge(sum.lanes, bases.lanes, stride);
      merge(sum.warps, bases.warps, stride);
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
  Value* a_buffer = staged(op.operand(0));
  Value* b_buffer = staged(op.operand(1));
  Value* acc = pull(op.operand(2), layout);
  builder_.set_location_of(&op);
  Value* a_offsets = staged_offsets(layout, a, rank - 1);
  Value* b_offsets = staged_offsets(layout, b, rank - 2);
  Type i32 = Type::number(DType::kInt32);
  Value* zero = builder_.integer(i32, 0);
  Value* one = builder_.integer(i32, 1);
  Value* end = builder_.integer(i32, depth);
  Value* row = builder_.integer(i32, b.extent(rank - 1));
  Operation* loop = builder_.for_loop(zero, end, one, Values{acc});
  ir::Region* body = loop->region(0);
  scopes_.push_back({nullptr, body});
  place_at(scopes_.size() - 1);
  Value* k = body->argument(0);
  auto element = [&](Value* buffer, Value* offsets, Value* at, const Type& operand) {
    Value* place = builder_.create(Opcode::kAdd, {offsets, splat(at, offsets->type())});
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
  scopes_.pop_back();
  place_at(scopes_.size() - 1);
  return loop->result();
}

}  // namespace enceladus::simt
