#include "lowering/tile_to_simt/lowering.h"

#include "lowering/tile_to_simt/registers.h"
#include "lowering/tile_to_simt/tile_to_simt.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

std::unique_ptr<ir::Function> lower(const ir::Function& tile, const SimtTarget& target,
                                    LoweringReport& report) {
  return Lowering(tile, target, report).run();
}

namespace {

bool may_use_wgmma(const ir::Function& tile, const SimtTarget& target) {
  ir::DotBackend backend = tile.options().dot_backend;
  return target.has_wgmma &&
         (backend == ir::DotBackend::kAuto || backend == ir::DotBackend::kWgmma);
}

}  // namespace

Lowering::Lowering(const ir::Function& tile, const SimtTarget& target, LoweringReport& report)
    : tile_(tile),
      target_(target),
      report_(report),
      simt_(std::make_unique<ir::Function>(tile.name(), tile.location())),
      facts_(tile),
      hopper_(may_use_wgmma(tile, target) ? plan_hopper(tile, facts_) : HopperPlan()),
      assignment_(tile, facts_, target, hopper_),
      matmul_loops_(tile, target, assignment_.direct(), facts_),
      footprints_(tile, facts_),
      pointer_blocks_(tile, facts_),
      tallies_(tile, target),
      builder_(*simt_),
      scalars_(tile.value_count()) {
  simt_->options() = tile.options();
  for (size_t i = 0; i < tile.parameters().size(); ++i)
    set_scalar(tile.body().argument(static_cast<int>(i)),
               simt_->append_parameter(tile.parameters()[i]));
}

std::unique_ptr<ir::Function> Lowering::run() {
  report_.warnings = check_registers(tile_, assignment_);
  report_.refusals.insert(hopper_.reasons.begin(), hopper_.reasons.end());
  if (hopper_.any())
    hopper_kernel();
  else
    region(tile_.body(), &simt_->body());
  return std::move(simt_);
}

void Lowering::region(const ir::Region& tile, ir::Region* simt) {
  scopes_.push_back({&tile, simt});
  place_at(scopes_.size() - 1);
  for (const Operation* op : tile) {
    if (op->is(Opcode::kYield)) break;
    builder_.set_location_of(op);
    if (hopper_.any()) finish_before(*op);
    if (hopper_.any() && hopper_operation(*op)) continue;
    open_tallies(*op);
    operation(*op);
    close_tallies(*op);
  }
  if (hopper_.any()) free_rings(tile);
}

void Lowering::place_at(size_t level) {
  level_ = level;
  if (level + 1 == scopes_.size())
    builder_.set_insertion_at_end(scopes_[level].simt);
  else
    builder_.set_insertion_before(scopes_[level + 1].simt->parent());
}

size_t Lowering::level_of(const ir::Region* region) const {
  size_t level = 0;
  while (scopes_[level].tile != region) {
    ++level;
    ENC_CHECK(level < scopes_.size(), "a value of a region that is not open");
  }
  return level;
}

size_t Lowering::level_of(const Value* value) const {
  return level_of(value->definition() ? value->definition()->parent() : value->argument_of());
}

Lowering::Placement::Placement(Lowering& lowering, const ir::Region* region)
    : Placement(lowering, lowering.level_of(region)) {}

Lowering::Placement::Placement(Lowering& lowering, size_t level)
    : lowering_(lowering), level_(lowering.level_), location_(lowering.builder_.location()) {
  lowering.place_at(level);
}

Lowering::Placement::~Placement() {
  lowering_.place_at(level_);
  lowering_.builder_.set_location(location_);
}

Value* Lowering::scalar(const Value* value) const {
  if (!value) return nullptr;
  Value* result = scalars_[value->id()];
  ENC_CHECK(result != nullptr, "a scalar is used before it is lowered");
  return result;
}

void Lowering::set_scalar(const Value* value, Value* simt) {
  if (simt->name().empty()) simt->set_name(value->name());
  scalars_[value->id()] = simt;
}

void Lowering::set_tile(const Value* tile, Value* array) {
  const LinearLayout* home = assignment_.home(tile);
  ENC_CHECK(home != nullptr);
  ENC_CHECK(array->type() == array_type(tile->type(), *home));
  if (array->name().empty()) array->set_name(tile->name());
  arrays_[{tile->id(), layout_id(*home)}] = array;
  if (!tile->name().empty()) report_.tiles.push_back({tile, *home});
}

Type Lowering::array_type(const Type& tile, const LinearLayout& layout) const {
  int64_t registers = register_count(layout);
  return tile.with_shape(std::span(&registers, 1));
}

Value* Lowering::splat(Value* scalar, const Type& like) {
  if (like.rank() == 0) return scalar;
  return builder_.create_typed(Opcode::kSplat, {scalar}, scalar->type().with_shape(like.shape()));
}

void Lowering::scalar_operation(const Operation& op) {
  Values operands;
  for (const Value* operand : op.operands()) operands.push_back(scalar(operand));
  for (const Value* result : op.results()) set_scalar(result, apply(op, operands));
}

void Lowering::operation(const Operation& op) {
  if (matmul_loops_.absorbs(op) || assignment_.direct().is_read_at_use(op)) return;
  if (const MatmulLoop* matmul = matmul_loops_.of(op)) {
    if (op.is(Opcode::kDot)) return multiply_matmul(*matmul);
    if (op.is(Opcode::kDescriptorStore)) return store_matmul(*matmul);
    start_matmul(*matmul);
  }
  bool is_scalar = op.result_count() == 1 && op.result()->type().rank() == 0;
  switch (op.opcode()) {
    case Opcode::kLoad:
    case Opcode::kDescriptorLoad:
      return is_staged(op) ? void() : load(op);
    case Opcode::kStore:
      return store(op);
    case Opcode::kDescriptorStore:
      return store_block(op);
    case Opcode::kFor:
      return for_loop(op);
    case Opcode::kWhile:
      return while_loop(op);
    case Opcode::kIf:
      return branch(op);
    case Opcode::kReduce:
      return reduce(op);
    case Opcode::kScan:
      return scan(op);
    case Opcode::kDot:
      return dot(op);
    case Opcode::kAtomicRmw:
    case Opcode::kAtomicCas:
      return atomic(op);
    case Opcode::kDeviceAssert:
      return device_assert(op);
    case Opcode::kDevicePrint:
      return device_print(op);
    case Opcode::kStageBuffer:
      return stage_buffer(op);
    case Opcode::kStageStore:
      return stage_store(op);
    case Opcode::kStageWait:
      return stage_wait(op);
    case Opcode::kStageCommit:
      builder_.create(Opcode::kStageCommit, std::span<Value* const>(), {});
      return;
    case Opcode::kStageLoad:  // read where it is used
    case Opcode::kMakeDescriptor:
    case Opcode::kAssume:
    case Opcode::kDebugBarrier:
      return;
    default:
      break;
  }
  OpClass op_class = op.record().op_class;
  if (op_class == OpClass::kSource || op_class == OpClass::kElementwise) {
    if (is_scalar) return scalar_operation(op);
    // The others are pulled when they are needed.
    if (const LinearLayout* home = assignment_.home(op.result()))
      set_tile(op.result(), recompute(op, *home));
    return;
  }
  if (op_class == OpClass::kShape) return;
  fail(DiagnosticId::kNotAvailableOnTarget, op.location(),
       {std::string(op.record().name), std::string(target_.name),
        "this operation is not yet lowered"});
}

}  // namespace enceladus::simt
