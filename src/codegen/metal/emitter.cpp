#include "codegen/metal/emitter.h"

#include "codegen/common/bit_expressions.h"
#include "codegen/metal/dialect.h"
#include "codegen/metal/elementwise.h"
#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::metal {

using ir::AttributeName;
using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Value;

Emitter::Emitter(const ir::Function& function, codegen::Names& names, Prelude& prelude)
    : function_(function),
      names_(names),
      prelude_(prelude),
      facts_(function),
      effects_(function),
      value_names_(function.value_count()),
      locals_(function.value_count()) {}

void Emitter::set_name(const Value* value, std::string name) {
  value_names_[value->id()] = std::move(name);
}

void Emitter::run() { region(function_.body()); }

void Emitter::region(const ir::Region& region) {
  for (const Operation* op : region)
    if (!op->is(Opcode::kYield)) operation(*op);
  flush();
}

bool Emitter::is_inline(const Operation& op) const {
  std::vector<int64_t> bases;
  switch (op.opcode()) {
    case Opcode::kConstant:
    case Opcode::kSplat:
      return true;
    case Opcode::kAddPtr:
      return op.result()->type().rank() > 0;
    case Opcode::kRegisters:
      return codegen::linear_bases(op.integers(AttributeName::kRegisterMap), bases) ||
             registers_of(op.result()) == 1;
    default:
      return false;
  }
}

void Emitter::operation(const Operation& op) {
  if (is_inline(op)) return;
  OpClass op_class = op.record().op_class;
  if (op.is(Opcode::kLinear)) return linear(op);
  if (op_class == OpClass::kElementwise && op.result()->type().rank() > 0) return append(op);
  flush();
  out_.at(op.location());
  if (op_class == OpClass::kElementwise || op_class == OpClass::kSource)
    return scalar_statement(op);
  switch (op.opcode()) {
    case Opcode::kLoad:
      return load(op);
    case Opcode::kStore:
      return store(op);
    case Opcode::kOwner:
      return scalar_statement(op);
    case Opcode::kRegisters:
      return registers(op);
    case Opcode::kElement:
      return element(op);
    case Opcode::kPack:
      return pack(op);
    case Opcode::kShuffle:
    case Opcode::kShuffleXor:
    case Opcode::kWarpReduce:
      return shuffle(op);
    case Opcode::kSharedBuffer:
      return shared_buffer(op);
    case Opcode::kSharedLoad:
      return shared_load(op);
    case Opcode::kSharedStore:
      return shared_store(op);
    case Opcode::kBarrier:
      return barrier(op);
    case Opcode::kMma:
      return mma(op);
    case Opcode::kAtomicRmw:
    case Opcode::kAtomicCas:
      return atomic(op);
    case Opcode::kFor:
      return for_loop(op);
    case Opcode::kWhile:
      return while_loop(op);
    case Opcode::kIf:
      return branch(op);
    default:
      fail(DiagnosticId::kNotAvailableOnTarget, op.location(),
           {std::string(op.record().name), "metal", "this operation is not yet written"});
  }
}

void Emitter::scalar_statement(const Operation& op) {
  std::string value = element_expression(op, Index::of(0));
  const std::string& name = name_of(op.result());
  std::string pointee = op.result()->type().is_pointer() ? "" : "const ";
  out_.line(pointee + declaration(op.result(), name) + " = " + value + ";");
}

std::string Emitter::element_expression(const Operation& op, const Index& index) {
  switch (op.opcode()) {
    case Opcode::kProgramId:
    case Opcode::kNumPrograms: {
      std::string axis(1, "xyz"[op.integer(AttributeName::kAxis)]);
      return "int(" + std::string(op.is(Opcode::kProgramId) ? "program." : "programs.") + axis +
             ")";
    }
    case Opcode::kOwner: {
      auto is_zero = [](std::string_view name, int64_t mask) {
        return "(" + std::string(name) + " & " + std::to_string(mask) + ") == 0";
      };
      int64_t lanes = op.integer(AttributeName::kLaneMask);
      int64_t warps = op.integer(AttributeName::kWarpMask);
      if (warps == 0) return is_zero("lane", lanes);
      if (lanes == 0) return is_zero("warp", warps);
      return is_zero("lane", lanes) + " && " + is_zero("warp", warps);
    }
    case Opcode::kAddPtr:
      return use(op.operand(0), index) + " + " + use(op.operand(1), index);
    default: {
      std::vector<std::string> operands;
      for (const Value* operand : op.operands()) operands.push_back(use(operand, index));
      return elementwise(op, operands, {prelude_, facts_, function_.options().math_mode});
    }
  }
}

std::string Emitter::use(const Value* value, const Index& index) {
  const Operation* op = value->definition();
  if (op && is_inline(*op)) return use_inline(*op, index);
  const std::string& name = value_names_[value->id()];
  ENC_CHECK(!name.empty(), "a value is used before it is written");
  if (op && op->is(Opcode::kLinear) && registers_of(value) > 1) {
    std::span<const int64_t> bases = op->integers(AttributeName::kRegisterBases);
    std::vector<int64_t> all(bases.begin(), bases.end());
    for (AttributeName part : {AttributeName::kLaneBases, AttributeName::kWarpBases})
      all.push_back(codegen::bits_of(op->integers(part)));
    std::string own = codegen::bit_map(index.text, bases);
    if (index.constant) {
      int64_t number = 0;
      for (size_t bit = 0; bit < bases.size(); ++bit)
        if (*index.constant >> bit & 1) number ^= bases[bit];
      own = number ? std::to_string(number) : "";
    }
    if (name == "0") return own.empty() ? name : own;
    if (own.empty()) return name;
    return "(" + name + (codegen::are_disjoint(all) ? " + " : " ^ ") + own + ")";
  }
  if (value->type().rank() == 0 || registers_of(value) == 1 || locals_[value->id()]) return name;
  return name + "[" + index.text + "]";
}

std::string Emitter::use_inline(const Operation& op, const Index& index) {
  switch (op.opcode()) {
    case Opcode::kConstant:
      return literal(op.result()->type().dtype(),
                     static_cast<uint64_t>(op.integer(AttributeName::kBits)));
    case Opcode::kSplat:
      return use(op.operand(0));
    case Opcode::kAddPtr:
      return "(" + element_expression(op, index) + ")";
    default: {
      std::span<const int64_t> map = op.integers(AttributeName::kRegisterMap);
      if (map.size() == 1) return use(op.operand(0), Index::of(map[0]));
      if (index.constant)
        return use(op.operand(0), Index::of(map[static_cast<size_t>(*index.constant)]));
      std::vector<int64_t> bases;
      codegen::linear_bases(map, bases);
      std::string text = codegen::bit_map(index.text, bases);
      return use(op.operand(0), text.empty() ? Index::of(0) : Index{text, std::nullopt});
    }
  }
}

// The lane's and warp's part as a variable; `0` where there is none.
void Emitter::linear(const Operation& op) {
  std::span<const int64_t> lanes = op.integers(AttributeName::kLaneBases);
  std::span<const int64_t> warps = op.integers(AttributeName::kWarpBases);
  bool disjoint = (codegen::bits_of(lanes) & codegen::bits_of(warps)) == 0;
  std::string lane = codegen::bit_map("lane", lanes), warp = codegen::bit_map("warp", warps);
  if (lane.empty() && warp.empty()) return set_name(op.result(), "0");
  out_.at(op.location());
  const std::string& name = name_of(op.result());
  out_.line("const int " + name + " = int(" + codegen::join_bits(lane, warp, disjoint) + ");");
}

bool Emitter::is_const_pointer(const Value* pointer) const {
  analysis::Roots roots = effects_.roots(pointer);
  if (roots.anything) return false;
  bool some_unwritten = false;
  for (int i = 0; i < static_cast<int>(function_.parameters().size()); ++i)
    if (i < 64 && (roots.parameters >> i & 1)) some_unwritten |= !effects_.is_written(i);
  return some_unwritten;
}

std::string Emitter::type_of(const Value* value) const {
  const ir::Type& type = value->type();
  if (!type.is_pointer()) return std::string(type_name(type.dtype()));
  return std::string(is_const_pointer(value) ? "device const " : "device ") +
         std::string(memory_type_name(type.dtype())) + "*";
}

const std::string& Emitter::name_of(const Value* value) {
  std::string& name = value_names_[value->id()];
  if (name.empty()) name = names_.unique(value->name());
  return name;
}

std::string Emitter::declaration(const Value* value, const std::string& name) const {
  bool is_array = value->type().rank() > 0 && registers_of(value) > 1;
  return type_of(value) + " " + name +
         (is_array ? "[" + std::to_string(registers_of(value)) + "]" : "");
}

const std::string& Emitter::declare(const Value* value) {
  const std::string& name = name_of(value);
  out_.line(declaration(value, name) + ";");
  return name;
}

Index Emitter::open_registers(int64_t registers, int64_t step) {
  if (registers == step) return Index::of(0);
  out_.directive("#pragma unroll");
  std::string next = step == 1 ? "++r" : "r += " + std::to_string(step);
  out_.open("for (int r = 0; r < " + std::to_string(registers) + "; " + next + ")");
  return {"r", std::nullopt};
}

void Emitter::close_registers(int64_t registers, int64_t step) {
  if (registers != step) out_.close();
}

}  // namespace enceladus::metal
