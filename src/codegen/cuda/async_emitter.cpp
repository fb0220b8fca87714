// Rings, roles and copies (ir/async_ops.def). A ring's cursor is a pair of variables of each
// thread; its barriers lie behind its slots, those that say full first. Not: products
// (wgmma_emitter.cpp).
#include <algorithm>

#include "codegen/cuda/async_prelude.h"
#include "codegen/cuda/emitter.h"
#include "support/check.h"

namespace enceladus::cuda {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

namespace {

constexpr int64_t kGroupThreads = 128;
constexpr int64_t kBarrierBytes = 8;
constexpr int kConsumersBarrier = 1;  // named barriers; 0 is the whole block's
constexpr int kFirstGroupBarrier = 2;
constexpr int kLeadBarrier = 4;
constexpr const char* kGroupLeader = "(threadIdx.x & 127) == 0";

const Operation& ring_of(const Operation& op, int operand) {
  return *op.operand(operand)->definition();
}

}  // namespace

bool Emitter::async_operation(const Operation& op) {
  switch (op.opcode()) {
    case Opcode::kRole:
    case Opcode::kResident:
      return scalar(op.result(), position(op)), true;
    case Opcode::kTensorMap:
      return true;  // a parameter
    case Opcode::kUndefined:
      return true;  // of a loop's variable, which needs no first value
    case Opcode::kSetRegisters:
      out_.line(prelude_.use("set_registers") + "<" +
                number(op.integer(AttributeName::kRegisters)) + ", " +
                (op.integer_or(AttributeName::kGrow, 0) ? "true" : "false") + ">();");
      return true;
    case Opcode::kRing:
      return ring(op), true;
    case Opcode::kRingsReady:
      return rings_ready(), true;
    case Opcode::kRingFill:
    case Opcode::kRingTake:
      return ring_step(op), true;
    case Opcode::kPace:
      return pace(op), true;
    case Opcode::kRingFree:
      return ring_free(op), true;
    case Opcode::kCopyIn:
      return copy_in(op), true;
    case Opcode::kCopyOut:
      return copy_out(op), true;
    case Opcode::kCopyOutWait:
      out_.line(std::string("if (") + kGroupLeader + ") " + prelude_.use("copy_out_wait") + "<" +
                number(op.integer(AttributeName::kPending)) + ">();");
      return true;
    case Opcode::kAsyncFence:
      out_.line(prelude_.use("async_fence") + "();");
      return true;
    case Opcode::kGroupBarrier:
      named_barrier(number(kFirstGroupBarrier) + " + (warp >> 2)", kGroupThreads);
      return true;
    case Opcode::kStoreMatrix:
      return store_matrix(op), true;
    case Opcode::kStorePairs:
      return store_pairs(op), true;
    case Opcode::kWgmma:
      return wgmma(op), true;
    case Opcode::kWgmmaWait:
      prelude_.use("wgmma");
      out_.line("enc_wgmma_wait<" + number(op.integer(AttributeName::kPending)) + ">();");
      return true;
    case Opcode::kWgmmaResult:
      return wgmma_result(op), true;
    default:
      return false;
  }
}

void Emitter::scalar(const Value* result, const std::string& text) {
  const std::string& name = name_of(result);
  out_.line("const " + declaration(result, name) + " = " + text + ";");
}

std::string Emitter::position(const Operation& op) const {
  int warps = function_.options().num_warps;
  if (op.is(Opcode::kResident))
    return op.text(AttributeName::kResident) == "id" ? "int(blockIdx.x)" : "int(gridDim.x)";
  return op.text(AttributeName::kRole) == "producer" ? "warp >= " + number(warps)
                                                     : "threadIdx.x == " + number(32 * warps);
}

void Emitter::named_barrier(const std::string& id, int64_t threads) {
  out_.line(prelude_.use("named_barrier") + "(" + id + ", " + number(threads) + ");");
}

void Emitter::consumers_barrier() {
  named_barrier(number(kConsumersBarrier), 32 * function_.options().num_warps);
}

void Emitter::ring(const Operation& op) {
  prelude_.use("tensor_map");
  prelude_.use("ring_barriers");
  std::string name = names_.unique("ring");
  set_name(op.result(), name);
  out_.line("const int " + name + " = " + prelude_.use("shared_address") + "(shared) + " +
            number(op.integer(AttributeName::kOffset)) + ";");
  Ring ring{&op, names_.unique(name + "_slot"), names_.unique(name + "_phase")};
  out_.line("int " + ring.slot + " = 0, " + ring.phase + " = 0;");
  rings_.push_back(std::move(ring));
}

std::string Emitter::slot_barrier(const Operation& ring, const std::string& slot, bool full) {
  int64_t slots = ring.integer(AttributeName::kSlots);
  int64_t first = slots * ring.integer(AttributeName::kBytes);
  if (!full) first += slots * kBarrierBytes;
  return use(ring.result()) + " + " + number(first) + " + " + slot + " * " + number(kBarrierBytes);
}

void Emitter::rings_ready() {
  out_.open("if (threadIdx.x == 0)");
  for (const Ring& ring : rings_) {
    out_.open("for (int s = 0; s < " + number(ring.op->integer(AttributeName::kSlots)) + "; ++s)");
    out_.line("enc_barrier_init(" + slot_barrier(*ring.op, "s", true) + ", 1);");
    out_.line("enc_barrier_init(" + slot_barrier(*ring.op, "s", false) + ", " +
              number(ring.op->integer(AttributeName::kReaders)) + ");");
    out_.close();
  }
  out_.line("enc_barriers_ready();");
  ir::walk(function_.body(), [&](const Operation* op) {
    if (op->is(Opcode::kTensorMap)) out_.line("enc_prefetch(" + use(op->result()) + ");");
  });
  out_.close();
  out_.line("__syncthreads();");
  out_.line(prelude_.use("earlier_kernel") + "();");
}

// A producer's step to its next slot, or a consumer's.
void Emitter::ring_step(const Operation& op) {
  const Operation& ring = ring_of(op, 0);
  const Ring& cursor = *std::ranges::find(rings_, &ring, &Ring::op);
  bool fills = op.is(Opcode::kRingFill);
  scalar(op.result(), cursor.slot);
  std::string slot = use(op.result());
  out_.line("enc_wait(" + slot_barrier(ring, slot, !fills) + ", " + cursor.phase +
            (fills ? " ^ 1);" : ");"));
  if (fills)
    out_.line("enc_expect(" + slot_barrier(ring, slot, true) + ", " +
              number(op.integer(AttributeName::kBytes)) + ");");
  out_.line("if (++" + cursor.slot + " == " + number(ring.integer(AttributeName::kSlots)) + ") " +
            cursor.slot + " = 0, " + cursor.phase + " ^= 1;");
}

// The first group goes on at once where the second waits for it.
void Emitter::pace(const Operation& op) {
  std::string_view role = op.text(AttributeName::kRole);
  if (role == "meet") return consumers_barrier();
  int warps = function_.options().num_warps;
  bool leads = role == "lead";
  out_.line(std::string("if (warp ") + (leads ? "< " : ">= ") + number(kGroupThreads / 32) + ") " +
            prelude_.use(leads ? "named_arrival" : "named_barrier") + "(" + number(kLeadBarrier) +
            ", " + number(32 * warps) + ");");
}

void Emitter::ring_free(const Operation& op) {
  std::string mask = op.operand(2) ? " && " + use(op.operand(2)) : "";
  out_.line(std::string("if (") + kGroupLeader + mask + ") enc_arrive(" +
            slot_barrier(ring_of(op, 0), use(op.operand(1)), false) + ");");
}

std::string Emitter::coordinates(const Operation& op) {
  std::string text;
  for (const Value* at : op.operands().subspan(3)) text += ", " + use(at);
  return text;
}

void Emitter::copy_in(const Operation& op) {
  const Operation& ring = ring_of(op, 1);
  std::string slot = use(op.operand(2));
  std::string function = prelude_.add(copy_in_text(op.operand_count() - 3));
  out_.line(function + "(" + use(op.operand(0)) + ", " + use(ring.result()) + " + " + slot + " * " +
            number(ring.integer(AttributeName::kBytes)) + " + " +
            number(op.integer(AttributeName::kOffset)) + ", " + slot_barrier(ring, slot, true) +
            coordinates(op) + ");");
}

void Emitter::copy_out(const Operation& op) {
  prelude_.use("tensor_map");
  std::string function = prelude_.add(copy_out_text(op.operand_count() - 3));
  out_.line(std::string("if (") + kGroupLeader + ") " + function + "(" + use(op.operand(0)) + ", " +
            prelude_.use("shared_address") + "(" + use(op.operand(1)) + ") + " +
            use(op.operand(2)) + coordinates(op) + ");");
}

void Emitter::store_matrix(const Operation& op) {
  const Value* values = op.operand(2);
  std::string function = prelude_.use("store_matrix");
  std::string type(dialect_.type_name(values->type().dtype()));
  int64_t registers = registers_of(values);
  Index r = open_registers(registers, kRegistersOfA);
  Index place = r.constant ? Index::of(0) : Index{"(r / 8)", std::nullopt};
  std::string piece = names_.unique("piece"), list;
  for (int64_t i = 0; i < kRegistersOfA; ++i) list += (i ? ", " : "") + use(values, r.plus(i));
  out_.line("const " + type + " " + piece + "[8] = {" + list + "};");
  out_.line(function + "(" + use(op.operand(0)) + " + " + use(op.operand(1), place) + ", " + piece +
            ");");
  close_registers(registers, kRegistersOfA);
}

void Emitter::store_pairs(const Operation& op) {
  const Value* values = op.operand(2);
  std::string function = prelude_.store() + "<2>";
  int64_t registers = registers_of(values);
  Index r = open_registers(registers, 2);
  Index place = r.constant ? Index::of(0) : Index{"(r / 2)", std::nullopt};
  move_out(values, nullptr, function, use(op.operand(0)) + " + " + use(op.operand(1), place), 2, r);
  close_registers(registers, 2);
}

}  // namespace enceladus::cuda
