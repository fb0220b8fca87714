// Rings of tiles in shared memory (transforms/stage_loads.h): what goes in is copied without
// passing through registers where it can be, and what comes out is read in whatever layout a user
// wants.
#include "layout/conversion.h"
#include "lowering/tile_to_simt/access.h"
#include "lowering/tile_to_simt/lowering.h"
#include "lowering/tile_to_simt/matrix_loads.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

namespace {

// Asynchronous copies move words of 4, 8 or 16 bytes.
constexpr int kLeastCopy = 4;
constexpr int kWidestCopy = 16;

// The load that a buffer is filled from.
const Operation& source_of(const Operation& buffer) {
  for (const Operation* user : buffer.result()->users())
    if (user->is(Opcode::kStageStore)) return *user->operand(2)->definition();
  ENC_CHECK(false, "a stage buffer that nothing fills");
  return buffer;
}

}  // namespace

// A load that is staged at once happens there, without registers where it can be.
bool Lowering::is_staged(const Operation& load) {
  std::span<Operation* const> users = load.result()->users();
  return users.size() == 1 && users.front()->is(Opcode::kStageStore) &&
         users.front() == load.next();
}

void Lowering::stage_buffer(const Operation& op) {
  const ir::Type& type = op.result()->type();
  int bytes = byte_size(type.dtype());
  int axis = staged_axis(source_of(op));
  Value* buffer = shared_buffer(op.integer(AttributeName::kNumStages) * type.elements() * bytes);
  buffer->definition()->set_attribute(AttributeName::kStaged, int64_t{1});
  stages_[op.result()] = {buffer, axis, swizzled_memory(type.shape(), axis, bytes)};
}

// The axis along which rows lie in a slot: that of rows in memory, where they are copied; else that
// along which a thread writes the longest pieces.
int Lowering::staged_axis(const Operation& load) const {
  if (can_copy_async(load, facts_)) return access_shape(load, facts_).order.front();
  const ir::Type& type = load.result()->type();
  int bytes = byte_size(type.dtype()), best = 0, most = -1;
  for (int axis = type.rank(); axis-- > 0;) {
    LinearLayout writer = simt::along(*assignment_.home(load.result()), axis).layout;
    int bits = layout::contiguous_register_bits(writer, swizzled_memory(type.shape(), axis, bytes),
                                                log2_of(kWidestCopy / bytes));
    if (bits > most) most = bits, best = axis;
  }
  return best;
}

// Where a layout's elements lie in a slot, by element from the buffer's start.
Value* Lowering::stage_offsets(const LinearLayout& layout, const Stage& stage, const Value* slot) {
  Value* offsets = linear(offset_bases(layout, stage.memory));
  Value* elements = builder_.integer(scalar(slot)->type(), stage.memory.out().size());
  Value* start = builder_.create(Opcode::kMul, {scalar(slot), elements});
  return builder_.create(Opcode::kAdd, {offsets, splat(start, offsets->type())});
}

void Lowering::stage_store(const Operation& op) {
  const Stage& stage = stages_.at(op.operand(0));
  const Operation& load = *op.operand(2)->definition();
  const LinearLayout& layout = *assignment_.home(load.result());
  DType dtype = load.result()->type().dtype();
  if (!is_staged(load))
    return store_to_stage(stage, layout, op.operand(1), pull(load.result(), layout));
  LoadOperands source = load_operands(load, layout);
  builder_.set_location_of(&load);
  int piece = log2_of(std::max(1, kWidestCopy / byte_size(dtype)));
  int64_t in_memory = int64_t{1} << layout::contiguous_register_bits(layout, stage.memory, piece);
  int64_t vector = std::min<int64_t>(access_vector(load, layout, facts_), in_memory);
  if (can_copy_async(load, facts_) && vector * byte_size(dtype) >= kLeastCopy) {
    Value* offsets = stage_offsets(layout, stage, op.operand(1));
    Value* mask = owned_mask(layout, source.mask, offsets->type());
    builder_.create(Opcode::kCopyAsync, Values{stage.buffer, offsets, source.pointer, mask}, {},
                    {{AttributeName::kVector, vector}});
    return;
  }
  ir::Type type = array_type(load.result()->type(), layout);
  std::vector<ir::Attribute> attributes(load.attributes().begin(), load.attributes().end());
  attributes.push_back({AttributeName::kVector, int64_t{access_vector(load, layout, facts_)}});
  Value* loaded = builder_
                      .create(Opcode::kLoad, Values{source.pointer, source.mask, source.other},
                              std::span(&type, 1), std::move(attributes))
                      ->result();
  store_to_stage(stage, layout, op.operand(1), loaded);
}

// Registers in the order of a slot's rows, so that neighbours move together.
void Lowering::store_to_stage(const Stage& stage, const LinearLayout& layout, const Value* slot,
                              Value* values) {
  int bytes = byte_size(values->type().dtype());
  Arranged writer = simt::along(layout, stage.axis);
  int bits = layout::contiguous_register_bits(writer.layout, stage.memory,
                                              log2_of(std::max(1, kWidestCopy / bytes)));
  Value* offsets = stage_offsets(writer.layout, stage, slot);
  builder_.create(Opcode::kSharedStore,
                  Values{stage.buffer, offsets, registers(values, writer.map),
                         owned_mask(writer.layout, nullptr, values->type())},
                  {}, {{AttributeName::kVector, int64_t{1} << bits}});
}

void Lowering::stage_wait(const Operation& op) {
  builder_.create(Opcode::kStageWait, {}, {},
                  {{AttributeName::kPending, op.integer(AttributeName::kPending)}});
  builder_.create(Opcode::kBarrier, {}, {}, {{AttributeName::kMemory, std::string("shared")}});
}

Value* Lowering::stage_load(const Operation& op, const LinearLayout& layout) {
  const Stage& stage = stages_.at(op.operand(0));
  const ir::Type& type = op.result()->type();
  int bytes = byte_size(type.dtype());
  ir::Type array = array_type(type, layout);
  if (target_.has_matrix_loads) {
    if (std::optional<MatrixLoads> loads = matrix_loads(layout, stage.axis, bytes))
      return builder_.create_typed(
          Opcode::kMatrixLoad, {stage.buffer, stage_offsets(loads->rows, stage, op.operand(1))},
          array,
          {{AttributeName::kMatrices, int64_t{loads->matrices}},
           {AttributeName::kTransposed, int64_t{loads->transposed ? 1 : 0}}});
  }
  int piece = log2_of(std::max(1, kWidestCopy / bytes));
  int64_t vector = int64_t{1} << layout::contiguous_register_bits(layout, stage.memory, piece);
  return builder_.create_typed(Opcode::kSharedLoad,
                               {stage.buffer, stage_offsets(layout, stage, op.operand(1))}, array,
                               {{AttributeName::kVector, vector}});
}

}  // namespace enceladus::simt
