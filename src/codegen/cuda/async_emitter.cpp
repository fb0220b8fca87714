// Rings, roles, copies and asynchronous products (ir/async_ops.def). A ring's cursor is a pair of
// variables of each thread; its barriers lie behind its slots, those that say full first.
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
constexpr int64_t kInstructionBytes = 32;
constexpr int64_t kWordElements = 8;  // 16-bit elements of A in registers, an instruction
constexpr const char* kGroupLeader = "(threadIdx.x & 127) == 0";

const Operation& ring_of(const Operation& op, int operand) {
  return *op.operand(operand)->definition();
}

int64_t input_bytes(std::string_view input) {
  if (input == "tf32") return 4;
  return input == "f16" || input == "bf16" ? 2 : 1;
}

int swizzle_code(int64_t row_bytes) { return row_bytes == 128 ? 1 : row_bytes == 64 ? 2 : 3; }

// Of ir/async_ops.def.
struct Place {
  explicit Place(std::span<const int64_t> numbers)
      : transposed(numbers[0] != 0),
        row_bytes(numbers[1]),
        leading(numbers[2]),
        stride(numbers[3]),
        step(numbers[4]),
        steps(numbers[5]),
        panel(numbers[6]),
        block(numbers[7]) {}

  // Bytes to the k-th instruction's depth.
  std::string offset(int64_t count) const {
    if (count <= steps) return "k * " + number(step);
    return "k / " + number(steps) + " * " + number(panel) + " + k % " + number(steps) + " * " +
           number(step);
  }
  std::string descriptor(const std::string& address) const {
    return "enc_matrix<" + number(leading >> 4) + ", " + number(stride >> 4) + ", " +
           number(swizzle_code(row_bytes)) + ">(" + address + ")";
  }

  bool transposed;
  int64_t row_bytes, leading, stride, step, steps, panel, block;
};

// Whether the product may run on in the sum's variable: nothing else uses the sum, or, where the
// product's result has no name of its own because a branch starts it, waits for it.
bool is_last_use(const Value* sum, const Operation& product) {
  return std::ranges::all_of(sum->users(), [&](const Operation* user) {
    return user == &product || (user->is(Opcode::kWgmmaResult) && !product.result()->has_users());
  });
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
  if (op.integer_or(AttributeName::kInStep, 0)) consumers_barrier();
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
  Index r = open_registers(registers, kWordElements);
  Index place = r.constant ? Index::of(0) : Index{"(r / 8)", std::nullopt};
  std::string piece = names_.unique("piece"), list;
  for (int64_t i = 0; i < kWordElements; ++i) list += (i ? ", " : "") + use(values, r.plus(i));
  out_.line("const " + type + " " + piece + "[8] = {" + list + "};");
  out_.line(function + "(" + use(op.operand(0)) + " + " + use(op.operand(1), place) + ", " + piece +
            ");");
  close_registers(registers, kWordElements);
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

// The sum's own variable where nothing else uses it, so that no register moves while products run.
void Emitter::wgmma(const Operation& op) {
  const Value* sum = op.operand(2);
  const Value* result = op.result();
  if (const Value* variable = loop_variable(op)) {
    const std::string& name = name_of(variable);
    if (sum && name_of(sum) != name) copy_registers(name, sum);
    set_name(result, name);
    return products(op);
  }
  bool in_place = sum && is_last_use(sum, op) &&
                  (!sum->definition() || sum->definition()->is(Opcode::kWgmmaResult) ||
                   sum->definition()->is(Opcode::kFor) ||
                   sum->definition()->record().op_class == ir::OpClass::kElementwise);
  if (in_place) {
    set_name(result, name_of(sum));
  } else {
    declare(result);
    if (sum) copy_registers(name_of(result), sum);
  }
  products(op);
}

// The name of the value's array; of a copy where it is written out at each use.
std::string Emitter::array_of(const Value* value) {
  const Operation* op = value->definition();
  bool has_array = !op || op->record().op_class == ir::OpClass::kElementwise ||
                   op->is(Opcode::kFor) || op->is(Opcode::kIf) || op->is(Opcode::kSharedLoad) ||
                   op->is(Opcode::kLoad);
  if (has_array) return name_of(value);
  std::string name = names_.unique("copy");
  out_.line(declaration(value, name) + ";");
  copy_registers(name, value);
  return name;
}

void Emitter::copy_registers(const std::string& to, const Value* from) {
  Index r = open_registers(registers_of(from));
  out_.line(to + "[" + r.text + "] = " + use(from, r) + ";");
  close_registers(registers_of(from));
}

// The variable that the loop at hand assigns the product's result to, where nothing needs its
// former value any more: the product then runs on in the variable itself.
const Value* Emitter::loop_variable(const Operation& op) const {
  const Value* result = op.result();
  if (result->users().size() != 1 || !result->users().front()->is(Opcode::kYield)) return nullptr;
  const Operation* yield = result->users().front();
  const Operation* loop = yield->parent_operation();
  if (!loop || !loop->is(Opcode::kFor) || op.parent() != loop->region(0)) return nullptr;
  const auto& yielded = yield->operands();
  auto index = std::ranges::find(yielded, result) - yielded.begin();
  const Value* variable = loop->region(0)->argument(1 + static_cast<int>(index));
  for (const Operation* user : variable->users()) {
    while (user->parent() != op.parent()) user = user->parent_operation();
    for (const Operation* later = op.next(); later; later = later->next())
      if (later == user) return nullptr;
  }
  return variable;
}

// Depth outermost, so that neighbouring instructions do not wait for one another.
void Emitter::products(const Operation& op) {
  std::span<const int64_t> shape = op.integers(AttributeName::kShape);
  std::string input(op.text(AttributeName::kInput));
  const Value* a = op.operand(0);
  bool in_registers = a->type().rank() > 0;
  Place b_place(op.integers(AttributeName::kBPlace));
  WgmmaForm form{.columns = shape[1],
                 .input = input,
                 .depth = kInstructionBytes / input_bytes(input),
                 .sum = op.result()->type().dtype(),
                 .a_in_registers = in_registers,
                 .a_transposed = false,
                 .b_transposed = b_place.transposed};
  int64_t depths = shape[2] / form.depth, blocks = shape[0] / 64;
  prelude_.use("wgmma");
  auto matrix = [&](const Place& place, const Value* address) {
    std::string name = names_.unique("matrix");
    out_.line("const ulong " + name + " = " + place.descriptor(use(address)) + ";");
    return name;
  };
  std::string a_text;
  if (in_registers) {
    prelude_.use("word");
    a_text = array_of(a) + " + i * " + number(depths * kWordElements) + " + k * " +
             number(kWordElements);
  } else {
    Place place(op.integers(AttributeName::kAPlace));
    form.a_transposed = place.transposed;
    a_text = "enc_moved(" + matrix(place, a) + ", i * " + number(place.block) + " + " +
             place.offset(depths) + ")";
  }
  std::string b_text =
      "enc_moved(" + matrix(b_place, op.operand(1)) + ", " + b_place.offset(depths) + ")";
  std::string add = op.operand(2) ? "1" : "k != 0";
  if (op.operand(3)) add = use(op.operand(3)) + " || k != 0";
  std::string function = prelude_.add(wgmma_text(form));
  out_.line("enc_wgmma_begin();");
  out_.directive("#pragma unroll");
  out_.open("for (int k = 0; k < " + number(depths) + "; ++k)");
  out_.directive("#pragma unroll");
  out_.open("for (int i = 0; i < " + number(blocks) + "; ++i)");
  out_.line(function + "(" + name_of(op.result()) + " + i * " + number(shape[1] / 2) + ", " +
            a_text + ", " + b_text + ", " + add + ");");
  out_.close();
  out_.close();
  out_.line("enc_wgmma_end();");
}

void Emitter::wgmma_result(const Operation& op) {
  const Value* sum = op.operand(0);
  set_name(op.result(), name_of(sum));
  std::string function = prelude_.add(keep_text(sum->type().dtype(), registers_of(sum)));
  out_.line(function + "(" + name_of(sum) + ");");
  if (!op.operand(1)) return;
  out_.open("if (!" + use(op.operand(1)) + ")");
  Index r = open_registers(registers_of(sum));
  out_.line(use(sum, r) + " = " + dialect_.literal(sum->type().dtype(), 0) + ";");
  close_registers(registers_of(sum));
  out_.close();
}

}  // namespace enceladus::cuda
