// Products whose operands are read from memory where the dot stands: one fragment's extent of the
// inner dimension a step, the fragments of a step loaded right before they are multiplied. Nothing
// goes through shared memory and no barrier is needed.
//
// Whether the whole blocks are inside their arrays is asked once, for all threads: then nothing is
// masked. Programs at an edge run the other version: it takes no step that lies wholly outside, and
// masks only the fragments that are not wholly inside.
#include <algorithm>

#include "lowering/tile_to_simt/access.h"
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

// The registers of the layout of which only those of one step are left.
Bases of_one_step(Bases bases, const LinearLayout& layout, int depth_axis, int depth_bits) {
  std::vector<int64_t> kept;
  std::vector<TileBit> bits = images(layout, Dim::kRegister);
  for (size_t i = 0; i < bits.size(); ++i)
    if (bits[i].axis != depth_axis || bits[i].bit < depth_bits) kept.push_back(bases.registers[i]);
  bases.registers = std::move(kept);
  return bases;
}

}  // namespace

// One operand: read step by step, or at hand in registers as a whole.
struct Lowering::StepOperand {
  const DirectOperand* direct = nullptr;
  Value* whole = nullptr;
  // Of a direct one.
  std::vector<BlockAxis> axes;
  std::vector<Bases> bases;  // by axis of the block; registers of one step
  size_t depth_axis = 0;     // of the block
  Value* pointer = nullptr;
  Value* inside = nullptr;
  int64_t vector_inside = 1, vector_masked = 1;
};

struct Lowering::Steps {
  const MatrixUse& use;
  const FragmentLayouts& layouts;
  std::array<StepOperand, 2> operands;
  bool some_whole() const { return operands[0].whole || operands[1].whole; }
};

Lowering::StepOperand Lowering::step_operand(const Operation& dot, int operand,
                                             const LinearLayout& layout, int depth_bits) {
  StepOperand result;
  result.direct = assignment_.direct().operand(dot, operand);
  if (!result.direct || !result.direct->at_use) {
    result.direct = nullptr;
    result.whole = pull_copies(dot.operand(operand), layout);
    return result;
  }
  const Operation& load = *result.direct->load;
  int depth_axis = operand == 0 ? 1 : 0;
  result.axes = block_axes(load);
  result.depth_axis = static_cast<size_t>(result.direct->axes[static_cast<size_t>(depth_axis)]);
  Bases none = of_one_step(coordinate_bases(layout, 0), layout, depth_axis, depth_bits);
  for (std::vector<int64_t>* part : {&none.registers, &none.lanes, &none.warps})
    std::ranges::fill(*part, 0);
  result.bases.assign(result.axes.size(), none);
  for (int axis = 0; axis < 2; ++axis)
    result.bases[static_cast<size_t>(result.direct->axes[static_cast<size_t>(axis)])] =
        of_one_step(coordinate_bases(layout, axis), layout, depth_axis, depth_bits);
  result.pointer = thread_pointer(load, result.axes, result.bases);
  for (const BlockAxis& axis : result.axes) result.inside = both(result.inside, axis.inside);
  AccessShape access = access_shape(load, facts_);
  const Bases& row = result.bases[static_cast<size_t>(access.order.front())];
  if (!row.registers.empty() && row.registers.front() == 1) {
    result.vector_inside = std::min<int64_t>(2, std::min(access.contiguity, access.alignment));
    result.vector_masked = std::min<int64_t>(2, access.widest());
  }
  return result;
}

// The fragments of one step; `depth` is null for the first and only one.
Value* Lowering::step_fragments(const StepOperand& operand, Value* depth, Edge edge) {
  const BlockAxis& depth_axis = operand.axes[operand.depth_axis];
  Value* pointer = operand.pointer;
  if (depth) pointer = builder_.create(Opcode::kAddPtr, {pointer, along(depth_axis, depth)});
  Value* pointers = register_pointers(pointer, operand.axes, operand.bases);
  Type type = pointers->type().with_dtype(operand.direct->load->result()->type().dtype());
  Values operands{pointers};
  std::vector<ir::Attribute> vectors{{AttributeName::kVector, operand.vector_inside}};
  if (edge == Edge::kMasked && operand.inside) {
    operands.push_back(step_mask(operand, depth));
    operands.push_back(padding(*operand.direct->load, type));
    operands.push_back(groups_inside(operand.axes, operand.bases, operand.depth_axis, depth));
    vectors = {{AttributeName::kVector, operand.vector_masked},
               {AttributeName::kInsideVector, operand.vector_inside}};
  }
  Value* value =
      builder_.create(Opcode::kLoad, operands, std::span(&type, 1), std::move(vectors))->result();
  for (const Operation* op : operand.direct->computed) value = computed(*op, value);
  return value;
}

Value* Lowering::step_mask(const StepOperand& operand, Value* depth) {
  Value* mask = nullptr;
  for (size_t i = 0; i < operand.axes.size(); ++i) {
    Value* coordinates = linear(operand.bases[i]);
    if (i == operand.depth_axis && depth)
      coordinates = builder_.create(Opcode::kAdd, {coordinates, splat(depth, coordinates->type())});
    mask = both(mask, inside_of(operand.axes[i], coordinates));
  }
  return mask;
}

// What the operation makes of an array for its one tile that is not the same everywhere.
Value* Lowering::computed(const Operation& op, Value* array) {
  Values operands;
  for (const Value* operand : op.operands()) {
    const Value* same = same_everywhere(operand);
    if (!same)
      operands.push_back(array);
    else if (same->type().is_tile())
      operands.push_back(builder_.constant_bits(operand->type().with_shape(array->type().shape()),
                                                *ir::constant_bits(same)));
    else
      operands.push_back(splat(scalar(same), array->type()));
  }
  return apply(op, operands);
}

Value* Lowering::multiply_step(const Steps& steps, Value* acc, Value* step, Edge edge) {
  int64_t extent = int64_t{1} << steps.use.instruction->k_bits;
  Value* depth =
      step ? builder_.create(Opcode::kMul, {step, builder_.integer(kInt32, extent)}) : nullptr;
  Values operands;
  for (const StepOperand& operand : steps.operands)
    operands.push_back(operand.whole ? operand.whole : step_fragments(operand, depth, edge));
  operands.push_back(acc);
  operands.push_back(steps.some_whole() ? step : nullptr);
  std::vector<int64_t> counts(steps.layouts.fragments.begin(), steps.layouts.fragments.end());
  if (!steps.some_whole()) counts[3] = 1;
  return multiply_fragments(steps.use, std::move(operands), std::move(counts));
}

// How many steps a program at an edge takes: those behind the ends of both blocks add products of
// zeros, unless one of them is padded with something else or lies in registers.
Value* Lowering::steps_to_take(const Steps& steps) {
  int64_t count = steps.layouts.fragments[3];
  Value* all = builder_.integer(kInt32, count);
  if (steps.some_whole()) return all;
  Value* most = nullptr;
  for (const StepOperand& operand : steps.operands) {
    const BlockAxis& axis = operand.axes[operand.depth_axis];
    const Operation& load = *operand.direct->load;
    bool keeps_zeros = std::ranges::all_of(
        operand.direct->computed, [](const Operation* op) { return op->is(Opcode::kCast); });
    if (!axis.inside || !keeps_zeros) return all;
    if (padding(load, load.result()->type().element())) return all;
    most = most ? builder_.create(Opcode::kMax, {most, axis.left}) : axis.left;
  }
  int64_t bits = steps.use.instruction->k_bits;
  most = builder_.create(Opcode::kAdd, {most, builder_.integer(kInt32, (1 << bits) - 1)});
  return builder_.create(Opcode::kShr, {most, builder_.integer(kInt32, bits)});
}

// One step after another; where an operand is at hand as a whole the loop is unrolled, since its
// fragments are registers.
Value* Lowering::multiply_steps(const Steps& steps, Value* acc, Edge edge) {
  int64_t count = steps.layouts.fragments[3];
  if (count == 1) return multiply_step(steps, acc, nullptr, edge);
  Value* end = edge == Edge::kMasked ? steps_to_take(steps) : builder_.integer(kInt32, count);
  Operation* loop =
      builder_.for_loop(builder_.integer(kInt32, 0), end, builder_.integer(kInt32, 1), Values{acc});
  if (steps.some_whole()) loop->set_attribute(AttributeName::kLoopUnrollFactor, count);
  ir::Region* body = loop->region(0);
  within(body, [&] {
    builder_.yield({multiply_step(steps, body->argument(1), body->argument(0), edge)});
  });
  return loop->result();
}

Value* Lowering::dot_direct(const Operation& op, const MatrixUse& use,
                            const FragmentLayouts& layouts, Value* acc) {
  int depth_bits = use.instruction->k_bits;
  Steps steps{
      use,
      layouts,
      {step_operand(op, 0, layouts.a, depth_bits), step_operand(op, 1, layouts.b, depth_bits)}};
  builder_.set_location_of(&op);
  Value* inside = both(steps.operands[0].inside, steps.operands[1].inside);
  if (!inside) return multiply_steps(steps, acc, Edge::kNone);
  Type type = acc->type();
  Operation* branch = builder_.if_else(inside, std::span(&type, 1));
  for (Edge edge : {Edge::kNone, Edge::kMasked})
    within(branch->region(edge == Edge::kMasked),
           [&] { builder_.yield({multiply_steps(steps, acc, edge)}); });
  return branch->result();
}

}  // namespace enceladus::simt
