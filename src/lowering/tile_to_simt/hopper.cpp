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

Type i32() { return Type::number(DType::kInt32); }

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
        builder_.create_typed(Opcode::kRing, {}, i32(), std::move(attributes)));
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
  ir::Region* body = roles_->region(1);
  if (hopper_.walks_grid) {
    GridWalk walk = open_grid_walk(builder_);
    program_ = walk.program;
    body = walk.loop->region(0);
  }
  region(tile_.body(), body);
  scopes_.pop_back();
  if (hopper_.walks_grid) builder_.yield({});
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
  std::vector<Attribute> attributes;
  if (in_step && hopper_.groups > 1) attributes.push_back({AttributeName::kInStep, int64_t{1}});
  slots_[index] = builder_.create_typed(Opcode::kRingTake, {hopper_values_.rings[index]}, i32(),
                                        std::move(attributes));
}

void Lowering::free_slot(int ring, Value* slot, Value* mask) {
  simt_statement(Opcode::kRingFree, {hopper_values_.rings[static_cast<size_t>(ring)], slot, mask});
}

// What was taken in this region for products further in.
void Lowering::free_rings(const ir::Region& tile) {
  for (size_t ring = 0; ring < hopper_.rings.size(); ++ring) {
    const RingPlan& plan = hopper_.rings[ring];
    int load = plan.loads.front();
    if (!plan.taken_by_product && hopper_.loads[static_cast<size_t>(load)].load->parent() == &tile)
      free_slot(static_cast<int>(ring), slots_[ring], nullptr);
  }
}

// Where the group's part of a loaded operand starts.
Value* Lowering::operand_place(const RingLoad& load, bool along_depth, int64_t group_step) {
  auto ring = static_cast<size_t>(load.ring);
  Value* bytes = builder_.integer(i32(), hopper_.rings[ring].bytes);
  Value* place = builder_.create(
      Opcode::kAdd,
      {hopper_values_.rings[ring], builder_.create(Opcode::kMul, {slots_[ring], bytes})});
  if (load.offset)
    place = builder_.create(Opcode::kAdd, {place, builder_.integer(i32(), load.offset)});
  if (group_step && hopper_.groups > 1) {
    Value* part = group_number(group_bytes(load.tile, along_depth, group_step));
    place = builder_.create(Opcode::kAdd, {place, part});
  }
  return place;
}

Value* Lowering::group_number(int64_t factor) {
  std::vector<int64_t> lanes(kLaneBits), warps(static_cast<size_t>(assignment_.warp_bits()));
  warps.back() = factor;
  return builder_.create_typed(Opcode::kLinear, {}, i32(),
                               {{AttributeName::kRegisterBases, std::vector<int64_t>()},
                                {AttributeName::kLaneBases, std::move(lanes)},
                                {AttributeName::kWarpBases, std::move(warps)}});
}

void Lowering::wgmma(const Operation& op, const WgmmaPlan& product) {
  const RingLoad& b = hopper_.loads[static_cast<size_t>(product.b.load)];
  const RingLoad* a =
      product.a.load < 0 ? nullptr : &hopper_.loads[static_cast<size_t>(product.a.load)];
  const GroupTile& group = product.group;
  Value* left = nullptr;
  if (!a)
    left = pull(op.operand(0), wgmma_operand_layout(op.operand(0)->type().shape(), group,
                                                    assignment_.warp_bits()));
  const LinearLayout& home = *assignment_.home(op.result());
  bool from_zero = !product.running_in && ir::constant_bits(op.operand(2)) == 0;
  Value* sum = from_zero ? nullptr : pull(op.operand(2), home);
  builder_.set_location_of(&op);
  int own_ring = -1;  // what this product takes and frees
  for (const RingLoad* load : {a, &b})
    if (load && hopper_.rings[static_cast<size_t>(load->ring)].taken_by_product)
      own_ring = load->ring;
  if (own_ring >= 0) take(own_ring, product.running_in && !product.waits_with);
  if (a) left = operand_place(*a, product.a.along_depth, group.splits_columns ? 0 : group.rows);
  Value* right = operand_place(b, product.b.along_depth, group.splits_columns ? group.columns : 0);
  std::vector<Attribute> attributes = {
      {AttributeName::kShape,
       std::vector<int64_t>{group.rows, group.columns, op.operand(0)->type().extent(1)}},
      {AttributeName::kInput, product.input},
      {AttributeName::kBPlace, wgmma_place(b.tile, product.b.along_depth)}};
  if (a)
    attributes.push_back({AttributeName::kAPlace, wgmma_place(a->tile, product.a.along_depth)});
  Value* add = nullptr;
  for (const Running& running : running_)
    if (running.dot == &op && running.starts_at_zero) add = is_used(running.slot);
  Value* result = builder_.create_typed(Opcode::kWgmma, {left, right, sum, add},
                                        array_type(op.result()->type(), home), attributes);
  if (!product.running_in) {
    simt_statement(Opcode::kWgmmaWait, {}, {{AttributeName::kPending, int64_t{0}}});
    result = builder_.create(Opcode::kWgmmaResult, {result});
    if (own_ring >= 0) free_slot(own_ring, slots_[static_cast<size_t>(own_ring)], nullptr);
    for (const Running& running : running_)
      if (hopper_.products.at(running.dot).waits_with == &op) finish_turn(running);
  }
  set_tile(op.result(), result);
}

// What ran on from the turn before is done.
void Lowering::finish_turn(const Running& running) {
  Value* used = is_used(running.slot);
  if (running.sum) {
    const LinearLayout& home = *assignment_.home(running.sum);
    Value*& sum = arrays_[{running.sum->id(), layout_id(home)}];
    Value* any = running.starts_at_zero ? used : nullptr;
    sum = builder_.create(Opcode::kWgmmaResult, {sum, any});
  }
  free_slot(running.ring, running.slot, used);
}

// Whether there is a slot: -1 is none.
Value* Lowering::is_used(Value* slot) {
  return builder_.create(Opcode::kGe, {slot, builder_.integer(slot->type(), 0)});
}

// A loop with products that run on into the next turn, each with the slot that it reads until then;
// -1 before the first turn. One that alone touches its sum is waited for behind the next one's
// start; the others with the product that says so.
void Lowering::running_loop(const Operation& op, const std::vector<const Operation*>& dots) {
  const ir::Region& tile = *op.region(0);
  std::span<Value* const> variables = tile.arguments().subspan(1);
  std::vector<Running> around = std::move(running_);
  running_.clear();
  for (const Operation* dot : dots) running_.push_back(running_product(*dot, op));
  Values initial;
  for (size_t i = 0; i < variables.size(); ++i)
    initial.push_back(carried(op.operand(3 + static_cast<int>(i)), variables[i]));
  builder_.set_location_of(&op);
  for (const Running& running : running_) {
    if (!running.starts_at_zero) continue;
    Value*& sum = initial[static_cast<size_t>(running.index)];
    sum = builder_.create_typed(Opcode::kUndefined, {}, sum->type());
  }
  for (size_t i = 0; i < dots.size(); ++i) initial.push_back(builder_.integer(i32(), -1));
  Operation* loop = builder_.for_loop(scalar(op.operand(0)), scalar(op.operand(1)),
                                      scalar(op.operand(2)), initial);
  ir::Region* body = loop->region(0);
  set_scalar(tile.argument(0), body->argument(0));
  for (size_t i = 0; i < variables.size(); ++i)
    define(variables[i], body->argument(1 + static_cast<int>(i)));
  int first = 1 + static_cast<int>(variables.size());
  for (size_t i = 0; i < dots.size(); ++i)
    running_[i].slot = body->argument(first + static_cast<int>(i));
  region(tile, body);
  Values yielded;
  for (size_t i = 0; i < variables.size(); ++i)
    yielded.push_back(carried(tile.terminator()->operand(static_cast<int>(i)), variables[i]));
  for (const Running& running : running_) {
    yielded.push_back(slots_[static_cast<size_t>(running.ring)]);
    if (hopper_.products.at(running.dot).waits_with) continue;
    simt_statement(Opcode::kWgmmaWait, {}, {{AttributeName::kPending, int64_t{1}}});
    Running freed = running;
    freed.sum = nullptr;
    finish_turn(freed);
  }
  builder_.yield(yielded);
  scopes_.pop_back();
  place_at(scopes_.size() - 1);
  simt_statement(Opcode::kWgmmaWait, {}, {{AttributeName::kPending, int64_t{0}}});
  for (int i = 0; i < op.result_count(); ++i) define(op.result(i), loop->result(i));
  for (size_t i = 0; i < running_.size(); ++i) {
    running_[i].slot = loop->result(op.result_count() + static_cast<int>(i));
    running_[i].sum = op.result(running_[i].index);
    finish_turn(running_[i]);
  }
  running_ = std::move(around);
}

Lowering::Running Lowering::running_product(const Operation& dot, const Operation& loop) const {
  const ir::Region& body = *loop.region(0);
  const WgmmaPlan& product = hopper_.products.at(&dot);
  Running running;
  running.dot = &dot;
  const std::span<Value* const> yielded = body.terminator()->operands();
  running.index = static_cast<int>(std::ranges::find(yielded, dot.result()) - yielded.begin());
  running.sum = body.argument(1 + running.index);
  running.ring = hopper_.loads[static_cast<size_t>(product.b.load)].ring;
  running.starts_at_zero =
      !product.waits_with && ir::constant_bits(loop.operand(3 + running.index)) == 0;
  return running;
}

}  // namespace enceladus::simt
