// Loads and stores of device and shared memory, one statement a vector of neighbouring registers.
#include "codegen/metal/dialect.h"
#include "codegen/metal/emitter.h"
#include "support/check.h"

namespace enceladus::metal {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

namespace {

// The language's vectors have at most 4 elements: more of a smaller type travel as 32-bit words.
constexpr int64_t kMostElements = 4;
constexpr int64_t kWordBytes = 4;

}  // namespace

int64_t Emitter::elements_per_word(const Access& access) const {
  return kWordBytes / byte_size(access.value->type().dtype());
}

std::string Emitter::vector_type(const Access& access) const {
  if (access.vector <= kMostElements) return vector_name(access.type, access.vector);
  return vector_name("uint", access.vector / elements_per_word(access));
}

std::string Emitter::vector_pointer(const Access& access, const std::string& pointer) const {
  if (access.vector == 1) return "*" + pointer;
  return "*(" + access.space + " " + vector_type(access) + "*)" + pointer;
}

// Element `i` of a vector.
std::string Emitter::vector_part(const Access& access, const std::string& vector, int64_t i) const {
  auto at = [](const std::string& name, int64_t index) {
    return name + "[" + std::to_string(index) + "]";
  };
  if (access.vector <= kMostElements) return at(vector, i);
  int64_t each = elements_per_word(access);
  std::string word = at(vector, i / each);
  return at("as_type<" + vector_name(access.type, each) + ">(" + word + ")", i % each);
}

void Emitter::load_elements(const Access& access, const std::string& pointer, const Value* mask,
                            const Value* other, const Index& r) {
  std::string type(dialect_.type_name(access.value->type().dtype()));
  std::string loaded = vector_pointer(access, pointer);
  bool is_bool = access.value->type().is_bool();
  if (access.vector == 1) {
    std::string value = is_bool ? "bool(" + loaded + ")" : loaded;
    std::string otherwise =
        other ? use(other, r) : dialect_.literal(access.value->type().dtype(), 0);
    if (mask) value = use(mask, r) + " ? " + value + " : " + otherwise;
    return out_.line(use(access.value, r) + " = " + value + ";");
  }
  std::string vector = vector_type(access);
  std::string otherwise = other ? gathered(access, other, r) : vector + "(0)";
  std::string name = names_.unique("piece");
  if (mask) loaded = use(mask, r) + " ? " + loaded + " : " + otherwise;
  out_.line("const " + vector + " " + name + " = " + loaded + ";");
  for (int64_t i = 0; i < access.vector; ++i) {
    std::string part = vector_part(access, name, i);
    out_.line(use(access.value, r.plus(i)) + " = " + (is_bool ? "bool(" + part + ")" : part) + ";");
  }
}

std::string Emitter::gathered(const Access& access, const Value* from, const Index& r) {
  auto some = [&](int64_t first, int64_t count) {
    std::string text = vector_name(access.type, count) + "(";
    for (int64_t i = 0; i < count; ++i) text += (i ? ", " : "") + use(from, r.plus(first + i));
    return text + ")";
  };
  if (access.vector <= kMostElements) return some(0, access.vector);
  int64_t each = elements_per_word(access);
  std::string text = vector_type(access) + "(";
  for (int64_t i = 0; i < access.vector; i += each)
    text += (i ? ", " : "") + std::string("as_type<uint>(") + some(i, each) + ")";
  return text + ")";
}

void Emitter::load(const Operation& op) {
  const Value* result = op.result();
  std::string type(dialect_.memory_type_name(result->type().dtype()));
  Access access{result, type, "device const", op.integer_or(AttributeName::kVector, 1)};
  if (op.integer_or(AttributeName::kVolatile, 0)) access.space = "device const volatile";
  declare(result);
  by_groups(op, op.operand(3), access, [&](const Access& part, const Index& r, bool masked) {
    load_elements(part, use(op.operand(0), r), masked ? op.operand(1) : nullptr, op.operand(2), r);
  });
}

void Emitter::store(const Operation& op) {
  const Value* value = op.operand(1);
  std::string type(dialect_.memory_type_name(value->type().dtype()));
  Access access{value, type, "device", op.integer_or(AttributeName::kVector, 1)};
  by_groups(op, op.operand(3), access, [&](const Access& part, const Index& r, bool masked) {
    std::string target = vector_pointer(part, use(op.operand(0), r));
    std::string stored = part.vector == 1 ? use(value, r) : gathered(part, value, r);
    std::string guard = masked && op.operand(2) ? "if (" + use(op.operand(2), r) + ") " : "";
    out_.line(guard + target + " = " + stored + ";");
  });
}

// `write` for each vector; where the access says which groups of registers are wholly inside, these
// without masks.
void Emitter::by_groups(
    const Operation& op, const Value* inside, const Access& access,
    const std::function<void(const Access&, const Index&, bool masked)>& write) {
  int64_t registers = registers_of(access.value);
  if (!inside) {
    write(access, open_registers(registers, access.vector), true);
    return close_registers(registers, access.vector);
  }
  int64_t group = registers / registers_of(inside);
  Index r = open_registers(registers, group);
  Index number = r.constant ? r : Index{"(r / " + std::to_string(group) + ")", std::nullopt};
  auto vectors = [&](int64_t vector, bool masked) {
    Access part = access;
    part.vector = vector;
    for (int64_t i = 0; i < group; i += vector) write(part, r.plus(i), masked);
  };
  out_.open("if (" + use(inside, number) + ")");
  vectors(op.integer(AttributeName::kInsideVector), false);
  out_.otherwise();
  vectors(access.vector, true);
  out_.close();
  close_registers(registers, group);
}

// A typed pointer to the buffer's bytes, by the type of its first access.
void Emitter::shared_buffer(const Operation& op) {
  if (op.result()->users().empty()) return;
  ENC_CHECK(op.has(AttributeName::kOffset), "a shared buffer without a place");
  const Operation& first = *op.result()->users().front();
  const Value* data = first.is(Opcode::kSharedLoad) ? first.result() : first.operand(2);
  std::string type(dialect_.memory_type_name(data->type().dtype()));
  int64_t offset = op.integer(AttributeName::kOffset);
  set_name(op.result(), names_.unique("buffer"));
  out_.line("threadgroup " + type + "* " + name_of(op.result()) + " = (threadgroup " + type +
            "*)(shared" + (offset ? " + " + std::to_string(offset) : "") + ");");
}

void Emitter::shared_load(const Operation& op) {
  const Value* result = op.result();
  Access access{result, std::string(dialect_.memory_type_name(result->type().dtype())),
                "threadgroup const", op.integer(AttributeName::kVector)};
  declare(result);
  Index r = open_registers(registers_of(result), access.vector);
  load_elements(access, "(" + use(op.operand(0)) + " + " + use(op.operand(1), r) + ")", nullptr,
                nullptr, r);
  close_registers(registers_of(result), access.vector);
}

void Emitter::shared_store(const Operation& op) {
  const Value* value = op.operand(2);
  Access access{value, std::string(dialect_.memory_type_name(value->type().dtype())), "threadgroup",
                op.integer(AttributeName::kVector)};
  Index r = open_registers(registers_of(value), access.vector);
  std::string target =
      vector_pointer(access, "(" + use(op.operand(0)) + " + " + use(op.operand(1), r) + ")");
  std::string stored = access.vector == 1 ? use(value, r) : gathered(access, value, r);
  std::string guard = op.operand(3) ? "if (" + use(op.operand(3), r) + ") " : "";
  out_.line(guard + target + " = " + stored + ";");
  close_registers(registers_of(value), access.vector);
}

void Emitter::barrier(const Operation& op) {
  std::string_view memory = op.text(AttributeName::kMemory);
  std::string flags = memory == "shared"   ? "mem_flags::mem_threadgroup"
                      : memory == "device" ? "mem_flags::mem_device"
                                           : "mem_flags::mem_device | mem_flags::mem_threadgroup";
  bool one_warp = function_.options().num_warps == 1;
  std::string guard = op.operand(0) ? "if (!" + use(op.operand(0)) + ") " : "";
  out_.line(guard + (one_warp ? "simdgroup" : "threadgroup") + "_barrier(" + flags + ");");
}

}  // namespace enceladus::metal
