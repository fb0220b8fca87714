// Loads and stores of device and shared memory, one call a vector of neighbouring registers.
#include "codegen/cuda/emitter.h"
#include "support/check.h"

namespace enceladus::cuda {

using ir::AttributeName;
using ir::Operation;
using ir::Value;

namespace {

// The language's modifiers and policies; `.ca`, `.wb` and `evict_normal` are what is done anyway.
std::string_view hint_of(const Operation& op) {
  if (op.integer_or(AttributeName::kVolatile, 0)) return "cv";
  std::string_view policy = op.text(AttributeName::kEvictionPolicy);
  if (policy == "evict_first" || policy == "evict_last") return policy;
  std::string_view modifier = op.text(AttributeName::kCacheModifier);
  bool is_default = modifier.empty() || modifier == ".ca" || modifier == ".wb";
  return is_default ? std::string_view() : modifier.substr(1);
}

// Whether all registers of `other` are one value; none is 0.
bool is_uniform(const Value* other) {
  if (!other || other->type().rank() == 0) return true;
  const Operation* made = other->definition();
  return made && (made->is(ir::Opcode::kConstant) || made->is(ir::Opcode::kSplat));
}

std::string of_width(const std::string& function, int64_t vector) {
  return function + "<" + std::to_string(vector) + ">";
}

}  // namespace

void Emitter::fill(const Value* result, const Value* other, const Index& r, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out_.line(use(result, r.plus(i)) + " = " + use(other, r.plus(i)) + ";");
}

void Emitter::move_in(const Value* result, const std::string& function, const std::string& pointer,
                      int64_t vector, const Index& r) {
  if (result->type().is_bool()) {
    std::string bytes = names_.unique("bytes");
    out_.line("uchar " + bytes + "[" + std::to_string(vector) + "];");
    out_.line(function + "(" + bytes + ", " + pointer + ");");
    for (int64_t i = 0; i < vector; ++i)
      out_.line(use(result, r.plus(i)) + " = " + bytes + "[" + std::to_string(i) + "] != 0;");
    return;
  }
  out_.line(function + "(&" + use(result, r) + ", " + pointer + ");");
}

void Emitter::load(const Operation& op) {
  const Value* result = op.result();
  int64_t vector = op.integer_or(AttributeName::kVector, 1);
  std::string function = of_width(prelude_.load(hint_of(op)), vector);
  declare(result);
  Index r = open_registers(registers_of(result), vector);
  std::string pointer = use(op.operand(0), r);
  const Value* mask = op.operand(1);
  const Value* other = op.operand(2);
  if (mask && is_uniform(other)) {
    std::string otherwise = other ? use(other, r) : dialect_.literal(result->type().dtype(), 0);
    if (result->type().is_bool()) otherwise = codegen::call("uchar", otherwise);
    move_in(result, function, pointer + ", " + use(mask, r) + ", " + otherwise, vector, r);
  } else if (mask) {
    fill(result, other, r, vector);
    out_.open("if (" + use(mask, r) + ")");
    move_in(result, function, pointer, vector, r);
    out_.close();
  } else {
    move_in(result, function, pointer, vector, r);
  }
  close_registers(registers_of(result), vector);
}

// Neighbouring registers from `r` on, gathered and handed to `function`, where the mask is true.
void Emitter::move_out(const Value* value, const Value* mask, const std::string& function,
                       const std::string& pointer, int64_t vector, const Index& r) {
  if (mask) out_.open("if (" + use(mask, r) + ")");
  if (is_array(value) && !value->type().is_bool()) {
    out_.line(function + "(" + pointer + ", &" + use(value, r) + ");");
    if (mask) out_.close();
    return;
  }
  std::string piece = names_.unique("piece"), list;
  for (int64_t i = 0; i < vector; ++i) list += (i ? ", " : "") + use(value, r.plus(i));
  out_.line("const " + std::string(dialect_.memory_type_name(value->type().dtype())) + " " + piece +
            "[" + std::to_string(vector) + "] = {" + list + "};");
  out_.line(function + "(" + pointer + ", " + piece + ");");
  if (mask) out_.close();
}

void Emitter::store(const Operation& op) {
  const Value* value = op.operand(1);
  int64_t vector = op.integer_or(AttributeName::kVector, 1);
  std::string function = of_width(prelude_.store(hint_of(op)), vector);
  Index r = open_registers(registers_of(value), vector);
  move_out(value, op.operand(2), function, use(op.operand(0), r), vector, r);
  close_registers(registers_of(value), vector);
}

// A typed pointer to the buffer's bytes, by the type of its first access.
void Emitter::shared_buffer(const Operation& op) {
  if (op.result()->users().empty()) return;
  ENC_CHECK(op.has(AttributeName::kOffset), "a shared buffer without a place");
  const Operation& first = *op.result()->users().front();
  const Value* data = first.result_count() > 0 ? first.result() : first.operand(2);
  std::string type(dialect_.memory_type_name(data->type().dtype()));
  int64_t offset = op.integer(AttributeName::kOffset);
  set_name(op.result(), names_.unique("buffer"));
  out_.line(type + "* const " + name_of(op.result()) + " = (" + type + "*)(shared" +
            (offset ? " + " + std::to_string(offset) : "") + ");");
}

void Emitter::shared_load(const Operation& op) {
  const Value* result = op.result();
  int64_t vector = op.integer(AttributeName::kVector);
  std::string function = of_width(prelude_.load(), vector);
  declare(result);
  Index r = open_registers(registers_of(result), vector);
  move_in(result, function, use(op.operand(0)) + " + " + use(op.operand(1), r), vector, r);
  close_registers(registers_of(result), vector);
}

void Emitter::shared_store(const Operation& op) {
  const Value* value = op.operand(2);
  int64_t vector = op.integer(AttributeName::kVector);
  std::string function = of_width(prelude_.store(), vector);
  Index r = open_registers(registers_of(value), vector);
  move_out(value, op.operand(3), function, use(op.operand(0)) + " + " + use(op.operand(1), r),
           vector, r);
  close_registers(registers_of(value), vector);
}

void Emitter::matrix_load(const Operation& op) {
  const Value* result = op.result();
  int64_t loads = registers_of(op.operand(1)), each = registers_of(result) / loads;
  bool transposed = op.integer(AttributeName::kTransposed) != 0;
  std::string function = prelude_.use("matrix_load") + "<" +
                         std::to_string(op.integer(AttributeName::kMatrices)) +
                         (transposed ? ", true>" : ", false>");
  declare(result);
  // In the order of the offsets' registers.
  Index r = open_registers(loads);
  Index place = r.constant ? Index::of(*r.constant * each)
                           : Index{r.text + " * " + std::to_string(each), std::nullopt};
  out_.line(function + "(&" + use(result, place) + ", " + use(op.operand(0)) + " + " +
            use(op.operand(1), r) + ");");
  close_registers(loads);
}

void Emitter::copy_async(const Operation& op) {
  const Value* pointers = op.operand(2);
  const Value* mask = op.operand(3);
  int64_t vector = op.integer(AttributeName::kVector);
  std::string function = of_width(prelude_.use("copy_async"), vector);
  Index r = open_registers(registers_of(pointers), vector);
  out_.line(function + "(" + use(op.operand(0)) + " + " + use(op.operand(1), r) + ", " +
            use(pointers, r) + ", " + (mask ? use(mask, r) : "true") + ");");
  close_registers(registers_of(pointers), vector);
}

// What the threads of a program did to device memory is known to all of them behind it, too.
void Emitter::barrier(const Operation& op) {
  if (op.operand(0)) out_.open("if (!" + use(op.operand(0)) + ")");
  if (!rings_.empty())
    consumers_barrier();
  else
    out_.line(function_.options().num_warps == 1 ? "__syncwarp();" : "__syncthreads();");
  if (op.operand(0)) out_.close();
}

}  // namespace enceladus::cuda
