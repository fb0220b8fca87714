// Asynchronous products (ir/async_ops.def). From its start to the wait for it a sum lies in
// registers that the assembler's text names, and not in variables: the compiler's constant
// propagation takes cubic time over statements of a hundred operands around a loop, which was a
// third of what a matmul cost to compile. A sum that a loop carries on stays there through the
// loop; others are moved in and out, which the assembler does by naming alone.
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

constexpr int64_t kInstructionBytes = 32;
constexpr int64_t kInstructionRows = 64;

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

// The loop's product that gives the variable its next value, still running; null where another
// operation does.
const Operation* carried_product(const Operation& loop, size_t variable) {
  const ir::Region& body = *loop.region(0);
  const Operation* product = body.terminator()->operand(static_cast<int>(variable))->definition();
  bool runs = product && product->is(Opcode::kWgmma) && product->parent() == &body;
  return runs ? product : nullptr;
}

// Whether the value is a running sum: a product's result, or what a loop carries of one.
bool is_running(const Value* value) {
  const Operation* made = value->definition();
  if (made && !made->is(Opcode::kFor)) return made->is(Opcode::kWgmma);
  const Operation* loop = made ? made : value->argument_of()->parent();
  if (!loop || !loop->is(Opcode::kFor)) return false;
  const std::span<Value* const> variables = loop->region(0)->arguments().subspan(1);
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i] == value || (made && made->results()[i] == value))
      return carried_product(*loop, i) != nullptr;
  return false;
}

const Operation* outermost_loop(const Operation& op) {
  const Operation* found = nullptr;
  for (const Operation* around = op.parent_operation(); around; around = around->parent_operation())
    if (around->is(Opcode::kFor) || around->is(Opcode::kWhile)) found = around;
  return found;
}

// Whether the value is the same in all turns of the loop.
bool is_fixed(const Value* value, const Operation& loop) {
  const Operation* made = value->definition();
  const ir::Region* region = made ? made->parent() : value->argument_of();
  while (region && region->parent() != &loop)
    region = region->parent() ? region->parent()->parent() : nullptr;
  if (!region) return true;
  if (!made || made->record().effect != ir::Effect::kPure || !made->regions().empty()) return false;
  return std::ranges::all_of(made->operands(),
                             [&](const Value* v) { return !v || is_fixed(v, loop); });
}

// Whether the loop behind a result has turns in all programs or in none, and nothing else
// multiplies in its sums: zeros that the kernel starts with then stay until there is a product.
bool is_never_or_always_run(const Operation& result) {
  const Operation* loop = result.operand(0)->definition();
  if (!loop || !loop->is(Opcode::kFor)) return false;
  bool is_shared = std::ranges::any_of(
      result.result()->users(), [](const Operation* user) { return user->is(Opcode::kWgmma); });
  if (is_shared) return false;
  const Operation* around = outermost_loop(*loop);
  if (!around) return true;
  for (int bound = 0; bound < 3; ++bound)
    if (!is_fixed(loop->operand(bound), *around)) return false;
  return true;
}

// Whether a branch starts the product on a sum that is waited for behind it.
bool starts_late(const Operation& product) { return !product.result()->has_users(); }

template <typename Visit>
void for_late_products(const Operation& branch, const Visit& visit) {
  for (const Operation* op : *branch.region(0))
    if (op->is(Opcode::kWgmma) && starts_late(*op)) visit(*op);
}

}  // namespace

bool Emitter::holds_sums(const Operation& op) const {
  bool found = false;
  if (op.is(Opcode::kIf)) for_late_products(op, [&](const Operation&) { found = true; });
  if (op.is(Opcode::kFor))
    for (size_t i = 0; i < op.results().size(); ++i) found |= carried_product(op, i) != nullptr;
  return found;
}

// A loop moves its first sums in, a branch those that it may multiply: the wait behind it finds
// them there on either way.
void Emitter::control_around_sums(const Operation& op) {
  if (op.is(Opcode::kIf)) {
    for_late_products(op, [&](const Operation& product) {
      const Value* sum = product.operand(2);
      if (!is_running(sum)) move_in_sums(sum, array_of(sum));
    });
    return branch(op);
  }
  for (size_t i = 0; i < op.results().size(); ++i) {
    const Operation* product = carried_product(op, i);
    if (!product) continue;
    const Value* variable = op.region(0)->argument(1 + static_cast<int>(i));
    ENC_CHECK(loop_variable(*product) == variable, "a running sum is used in its loop");
    const Value* first = op.operand(3 + static_cast<int>(i));
    if (!first->definition() || !first->definition()->is(Opcode::kUndefined))
      move_in_sums(variable, array_of(first));
  }
  for_loop(op);
}

// The assembler's registers of all values that share a variable.
std::string Emitter::sums_of(const Value* value) {
  auto [known, is_new] = sums_.try_emplace(name_of(value));
  if (is_new) {
    known->second = names_.unique("sums");
    sum_declarations_ += "  asm volatile(\".reg ." +
                         std::string(assembler_type(value->type().dtype())) + " %" + known->second +
                         "_<" + number(registers_of(value)) + ">;\");\n";
  }
  return known->second;
}

void Emitter::move_in_sums(const Value* sum, const std::string& array) {
  AsyncText function = move_in_text(sums_of(sum), sum->type().dtype(), registers_of(sum));
  out_.line(prelude_.add(std::move(function)) + "(" + array + ");");
}

void Emitter::wgmma(const Operation& op) {
  const Value* sum = op.operand(2);
  const Value* result = op.result();
  if (const Value* variable = loop_variable(op)) {
    set_name(result, name_of(variable));
    if (sum && !is_running(sum)) move_in_sums(variable, array_of(sum));
    ENC_CHECK(!sum || !is_running(sum) || sums_of(sum) == sums_of(variable), "two running sums");
    return products(op);
  }
  bool in_place = sum && is_last_use(sum, op) &&
                  (!sum->definition() || sum->definition()->is(Opcode::kWgmmaResult) ||
                   sum->definition()->is(Opcode::kFor) ||
                   sum->definition()->record().op_class == ir::OpClass::kElementwise);
  ENC_CHECK(in_place || !sum || (!is_running(sum) && !starts_late(op)), "a sum in two places");
  if (in_place)
    set_name(result, name_of(sum));
  else
    declare(result);
  if (sum && !is_running(sum) && !starts_late(op)) move_in_sums(result, array_of(sum));
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
                 .sums = sums_of(op.result()),
                 .a_in_registers = in_registers,
                 .a_transposed = false,
                 .b_transposed = b_place.transposed};
  int64_t depths = shape[2] / form.depth, blocks = shape[0] / kInstructionRows;
  prelude_.use("wgmma");
  auto matrix = [&](const Place& place, const Value* address) {
    std::string name = names_.unique("matrix");
    out_.line("const ulong " + name + " = " + place.descriptor(use(address)) + ";");
    return name;
  };
  std::string a_name;
  int64_t a_block = depths * kRegistersOfA;
  std::string a_step = "k * " + number(kRegistersOfA);
  if (in_registers) {
    prelude_.use("word");
    a_name = array_of(a);
  } else {
    Place place(op.integers(AttributeName::kAPlace));
    form.a_transposed = place.transposed;
    a_name = matrix(place, a);
    a_block = place.block;
    a_step = place.offset(depths);
  }
  auto a_text = [&](int64_t block) {
    std::string offset = (block ? number(block * a_block) + " + " : "") + a_step;
    return in_registers ? a_name + " + " + offset : "enc_moved(" + a_name + ", " + offset + ")";
  };
  std::string b_text =
      "enc_moved(" + matrix(b_place, op.operand(1)) + ", " + b_place.offset(depths) + ")";
  std::string add = op.operand(2) ? "1" : "k != 0";
  if (op.operand(3)) add = use(op.operand(3)) + " || k != 0";
  out_.line("enc_wgmma_begin();");
  out_.directive("#pragma unroll");
  out_.open("for (int k = 0; k < " + number(depths) + "; ++k)");
  for (int64_t i = 0; i < blocks; ++i) {
    form.first = i * shape[1] / 2;
    out_.line(prelude_.add(wgmma_text(form)) + "(" + a_text(i) + ", " + b_text + ", " + add + ");");
  }
  out_.close();
  out_.line("enc_wgmma_end();");
}

// Zeros where there was no product come from the kernel's start where they are still there, else
// from a branch: chosen by a select, they would be kept beside what the registers hold, which the
// assembler sees live until the next product replaces it.
void Emitter::wgmma_result(const Operation& op) {
  const Value* sum = op.operand(0);
  std::string sums = sums_of(sum);
  int64_t registers = registers_of(sum);
  set_name(op.result(), name_of(sum));
  if (op.operand(1)) {
    std::string clear = prelude_.add(clear_text(sums, registers)) + "();";
    if (is_never_or_always_run(op))
      sum_declarations_ += "  " + clear + "\n";
    else
      out_.line("if (!" + use(op.operand(1)) + ") " + clear);
  }
  AsyncText function = move_out_text(sums, sum->type().dtype(), registers);
  out_.line(prelude_.add(std::move(function)) + "(" + name_of(sum) + ");");
}

}  // namespace enceladus::cuda
