// A kernel with rings (hopper_plan.h): its roles, and what the consumers do with what the producer
// loads. The consumers' part is the kernel as ever, but for the loads that the producer makes and
// the products that read them.
#include <algorithm>

#include "ir/builder.h"
#include "lowering/tile_to_simt/hopper_parts.h"
#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::Attribute;
using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

namespace {

// Registers of a thread where two groups multiply: the producer's four warps leave theirs to them.
// 2 * 232 + 40 = 3 * 168, what three groups start with.
constexpr int64_t kProducerRegisters = 40;
constexpr int64_t kConsumerRegisters = 232;

}  // namespace

Value* Lowering::role(const char* name) {
  return builder_.create_typed(Opcode::kRole, {}, Type::number(DType::kInt1),
                               {{AttributeName::kRole, std::string(name)}});
}

void Lowering::simt_statement(Opcode opcode, std::initializer_list<Value*> operands,
                              std::vector<Attribute> attributes) {
  builder_.create(opcode, std::span(operands.begin(), operands.size()), {}, std::move(attributes));
}

void Lowering::make_rings() {
  for (const RingLoad& load : hopper_.loads) {
    report_.engines[load.load] = "TMA ring";
    builder_.set_location_of(load.load);
    Value* base = scalar(tile_.body().argument(load.map.parameter));
    hopper_values_.maps.push_back(make_tensor_map(builder_, load.map, base, load.tile));
  }
  for (const RingPlan& ring : hopper_.rings) {
    std::vector<Attribute> attributes = {{AttributeName::kSlots, ring.slots},
                                         {AttributeName::kBytes, ring.bytes},
                                         {AttributeName::kReaders, int64_t{hopper_.groups}}};
    if (ring.most_slots > ring.slots) attributes.push_back({AttributeName::kGrow, ring.most_slots});
    builder_.set_location_of(hopper_.loads[static_cast<size_t>(ring.loads.front())].load);
    hopper_values_.rings.push_back(
        builder_.create_typed(Opcode::kRing, {}, kInt32, std::move(attributes)));
  }
  slots_.resize(hopper_.rings.size());
  simt_statement(Opcode::kRingsReady, {});
}

void Lowering::hopper_kernel() {
  builder_.set_insertion_at_end(&simt_->body());
  make_rings();
  roles_ = builder_.if_else(role("producer"), {});
  bool shares_registers = hopper_.groups > 1;
  builder_.set_insertion_at_end(roles_->region(0));
  if (shares_registers)
    simt_statement(Opcode::kSetRegisters, {}, {{AttributeName::kRegisters, kProducerRegisters}});
  Operation* copier = builder_.if_else(role("copier"), {});
  builder_.yield({});
  builder_.set_insertion_at_end(copier->region(0));
  write_producer(builder_, tile_, hopper_, hopper_values_, scalars_);
  builder_.yield({});
  builder_.set_insertion_at_end(copier->region(1));
  builder_.yield({});
  builder_.set_insertion_at_end(roles_->region(1));
  if (shares_registers)
    simt_statement(
        Opcode::kSetRegisters, {},
        {{AttributeName::kRegisters, kConsumerRegisters}, {AttributeName::kGrow, int64_t{1}}});
  GridWalk walk;
  if (hopper_.walks_grid) {
    walk = open_grid_walk(builder_, hopper_.is_uneven);
    program_ = walk.program;
  }
  region(tile_.body(), hopper_.walks_grid ? walk.body() : roles_->region(1));
  scopes_.pop_back();
  if (hopper_.walks_grid) close_grid_walk(builder_, walk);
  builder_.set_insertion_at_end(roles_->region(1));
  if (copies_out_)
    simt_statement(Opcode::kCopyOutWait, {}, {{AttributeName::kPending, int64_t{0}}});
  builder_.yield({});
}

bool Lowering::hopper_operation(const Operation& op) {
  if (auto load = hopper_.load_of.find(&op); load != hopper_.load_of.end()) {
    int ring = hopper_.loads[static_cast<size_t>(load->second)].ring;
    if (!hopper_.rings[static_cast<size_t>(ring)].taken_by_product) take(ring, false);
    return true;
  }
  if (auto product = hopper_.products.find(&op); product != hopper_.products.end()) {
    wgmma(op, product->second);
    return true;
  }
  if (op.is(Opcode::kProgramId) && hopper_.walks_grid) {
    set_scalar(op.result(), program_[static_cast<size_t>(op.integer(AttributeName::kAxis))]);
    return true;
  }
  if (op.is(Opcode::kDescriptorStore)) return copy_out(op);
  if (op.is(Opcode::kSelect)) return guarded_select(op);
  if (!op.is(Opcode::kFor)) return false;
  std::vector<const Operation*> running;
  for (const Operation* inner : *op.region(0)) {
    auto product = hopper_.products.find(inner);
    if (product != hopper_.products.end() && product->second.running_in == &op)
      running.push_back(inner);
  }
  if (running.empty()) return false;
  running_loop(op, running);
  return true;
}

void Lowering::take(int ring, bool in_step) {
  auto index = static_cast<size_t>(ring);
  slots_[index] = builder_.create_typed(Opcode::kRingTake, {hopper_values_.rings[index]}, kInt32);
  if (in_step && hopper_.groups > 1)
    simt_statement(Opcode::kPace, {}, {{AttributeName::kRole, std::string("meet")}});
}

void Lowering::free_slot(int ring, Value* slot, Value* mask) {
  simt_statement(Opcode::kRingFree, {hopper_values_.rings[static_cast<size_t>(ring)], slot, mask});
}

// What was taken in this region for products further in.
void Lowering::free_rings(const ir::Region& tile) {
  for (size_t ring = 0; ring < hopper_.rings.size(); ++ring) {
    const RingPlan& plan = hopper_.rings[ring];
    int load = plan.loads.front();
    if (plan.taken_by_product || hopper_.loads[static_cast<size_t>(load)].load->parent() != &tile)
      continue;
    Value* never_ran = nullptr;
    if (plan.freed_in)
      never_ran = builder_.create(
          Opcode::kGe, {scalar(plan.freed_in->operand(0)), scalar(plan.freed_in->operand(1))});
    free_slot(static_cast<int>(ring), slots_[ring], never_ran);
  }
}

// Those that only this product in a loop reads, in the loop's last turn.
void Lowering::free_behind_last(const WgmmaPlan& product) {
  for (int index : {product.a.load, product.b.load}) {
    if (index < 0) continue;
    int ring = hopper_.loads[static_cast<size_t>(index)].ring;
    const Operation* loop = hopper_.rings[static_cast<size_t>(ring)].freed_in;
    if (!loop) continue;
    auto wide = [&](Value* value) { return builder_.cast(scalar(value), DType::kInt64); };
    Value* left =
        builder_.create(Opcode::kSub, {wide(loop->operand(1)), wide(loop->region(0)->argument(0))});
    Value* is_last = builder_.create(Opcode::kLe, {left, wide(loop->operand(2))});
    free_slot(ring, slots_[static_cast<size_t>(ring)], is_last);
  }
}

// Where the group's part of a loaded operand starts.
Value* Lowering::operand_place(const RingLoad& load, bool along_depth, int64_t group_step) {
  auto ring = static_cast<size_t>(load.ring);
  Value* bytes = builder_.integer(kInt32, hopper_.rings[ring].bytes);
  Value* place = builder_.create(
      Opcode::kAdd,
      {hopper_values_.rings[ring], builder_.create(Opcode::kMul, {slots_[ring], bytes})});
  if (load.offset)
    place = builder_.create(Opcode::kAdd, {place, builder_.integer(kInt32, load.offset)});
  if (group_step && hopper_.groups > 1) {
    Value* part = group_number(group_bytes(load.tile, along_depth, group_step));
    place = builder_.create(Opcode::kAdd, {place, part});
  }
  return place;
}

Value* Lowering::group_number(int64_t factor) {
  std::vector<int64_t> lanes(kLaneBits), warps(static_cast<size_t>(assignment_.warp_bits()));
  warps.back() = factor;
  return builder_.create_typed(Opcode::kLinear, {}, kInt32,
                               {{AttributeName::kRegisterBases, std::vector<int64_t>()},
                                {AttributeName::kLaneBases, std::move(lanes)},
                                {AttributeName::kWarpBases, std::move(warps)}});
}

void Lowering::report_product(const Operation& op, const WgmmaPlan& product) {
  DotReport row;
  row.dot = &op;
  row.backend = "wgmma";
  row.warps = {kGroupWarps, 1};
  row.warps[product.group.splits_columns ? 1 : 0] *= hopper_.groups;
  row.operands = {product.a.load < 0 ? "registers" : "TMA ring", "TMA ring"};
  report_.dots.push_back(std::move(row));
}

void Lowering::wgmma(const Operation& op, const WgmmaPlan& product) {
  report_product(op, product);
  Value* left = nullptr;
  if (product.a.load < 0)
    left = pull(op.operand(0), wgmma_operand_layout(op.operand(0)->type().shape(), product.group,
                                                    assignment_.warp_bits()));
  const LinearLayout& home = *assignment_.home(op.result());
  bool from_zero = !product.running_in && ir::constant_bits(op.operand(2)) == 0;
  Value* sum = from_zero ? nullptr : pull(op.operand(2), home);
  builder_.set_location_of(&op);
  if (product.done_before) return put_off(op, left, sum);
  int own_ring = -1;  // what this product takes and frees
  for (int load : {product.a.load, product.b.load}) {
    if (load < 0) continue;
    int ring = hopper_.loads[static_cast<size_t>(load)].ring;
    if (hopper_.rings[static_cast<size_t>(ring)].taken_by_product) own_ring = ring;
  }
  if (own_ring >= 0) take(own_ring, product.running_in && !product.waits_with);
  Value* add = nullptr;
  for (const Running& running : running_)
    if (running.dot == &op && running.starts_at_zero) add = is_used(running.slot);
  Value* result = start_product(op, left, sum, add);
  if (!product.running_in) {
    int64_t later = start_late_products(op);
    simt_statement(Opcode::kWgmmaWait, {}, {{AttributeName::kPending, later}});
    result = builder_.create(Opcode::kWgmmaResult, {result});
    if (own_ring >= 0) free_slot(own_ring, slots_[static_cast<size_t>(own_ring)], nullptr);
    free_behind_last(product);
    for (const Running& running : running_) {
      const WgmmaPlan& its = hopper_.products.at(running.dot);
      if (its.waits_with == &op && !its.done_before) finish_turn(running);
    }
  }
  set_tile(op.result(), result);
}

// `left`: A in registers, null where it is loaded. What the product's rings have taken is read.
Value* Lowering::start_product(const Operation& op, Value* left, Value* sum, Value* add) {
  const WgmmaPlan& product = hopper_.products.at(&op);
  const GroupTile& group = product.group;
  const RingLoad& b = hopper_.loads[static_cast<size_t>(product.b.load)];
  Value* right = operand_place(b, product.b.along_depth, group.splits_columns ? group.columns : 0);
  std::vector<Attribute> attributes = {
      {AttributeName::kShape,
       std::vector<int64_t>{group.rows, group.columns, op.operand(0)->type().extent(1)}},
      {AttributeName::kInput, product.input},
      {AttributeName::kBPlace, wgmma_place(b.tile, product.b.along_depth)}};
  if (product.a.load >= 0) {
    const RingLoad& a = hopper_.loads[static_cast<size_t>(product.a.load)];
    left = operand_place(a, product.a.along_depth, group.splits_columns ? 0 : group.rows);
    attributes.push_back({AttributeName::kAPlace, wgmma_place(a.tile, product.a.along_depth)});
  }
  return builder_.create_typed(Opcode::kWgmma, {left, right, sum, add},
                               array_type(op.result()->type(), *assignment_.home(op.result())),
                               std::move(attributes));
}

}  // namespace enceladus::simt
