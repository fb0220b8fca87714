#include "codegen/common/emitter.h"

#include "codegen/common/bit_expressions.h"
#include "codegen/common/elementwise.h"
#include "ir/builder.h"
#include "support/check.h"

namespace enceladus::codegen {

using ir::AttributeName;
using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Value;

namespace {

// Whether what the region defined before the operation is known there.
bool is_within(const Operation& op, const ir::Region* region) {
  const ir::Region* around = op.parent();
  while (around && around != region)
    around = around->parent() ? around->parent()->parent() : nullptr;
  return around != nullptr;
}

}  // namespace

Index Index::plus(int64_t by) const {
  if (by == 0) return *this;
  if (constant) return of(*constant + by);
  return {text + " + " + std::to_string(by), std::nullopt};
}

Emitter::Emitter(const ir::Function& function, Names& names, Dialect& dialect)
    : function_(function),
      names_(names),
      dialect_(dialect),
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
      return linear_bases(op.integers(AttributeName::kRegisterMap), bases) ||
             registers_of(op.result()) == 1;
    default:
      return false;
  }
}

void Emitter::operation(const Operation& op) {
  if (is_inline(op)) return;
  OpClass op_class = op.record().op_class;
  if (op.is(Opcode::kLinear)) return linear(op);
  bool is_target = is_target_operation(op);
  if (op_class == OpClass::kElementwise && op.result()->type().rank() > 0 && !is_target)
    return append(op);
  flush();
  out_.at(op.location());
  if (is_target) return target_operation(op);
  if (op_class == OpClass::kElementwise || op_class == OpClass::kSource)
    return scalar_statement(op);
  switch (op.opcode()) {
    case Opcode::kOwner:
      return scalar_statement(op);
    case Opcode::kRegisters:
      return registers(op);
    case Opcode::kElement:
      return element(op);
    case Opcode::kPack:
      return pack(op);
    case Opcode::kFor:
      return for_loop(op);
    case Opcode::kWhile:
      return while_loop(op);
    case Opcode::kIf:
      return branch(op);
    default:
      return other_operation(op);
  }
}

void Emitter::other_operation(const Operation& op) {
  switch (op.opcode()) {
    case Opcode::kLoad:
      return load(op);
    case Opcode::kStore:
      return store(op);
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
    case Opcode::kSharedAtomic:
      return shared_atomic(op);
    case Opcode::kBarrier:
      return barrier(op);
    case Opcode::kMma:
      return mma(op);
    case Opcode::kPrint:
      return print(op);
    case Opcode::kDeviceAssert:
      return assertion(op);
    case Opcode::kAtomicRmw:
    case Opcode::kAtomicCas:
      return atomic(op);
    default:
      return target_operation(op);
  }
}

void Emitter::refuse(const Operation& op) const {
  fail(DiagnosticId::kNotAvailableOnTarget, op.location(),
       {std::string(op.record().name), std::string(dialect_.target()),
        "this operation is not yet written"});
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
    case Opcode::kNumPrograms:
      return dialect_.program_position(op.opcode(), op.integer(AttributeName::kAxis));
    case Opcode::kOwner:
      return owner_condition(op);
    case Opcode::kAddPtr:
      return use(op.operand(0), index) + " + " + use(op.operand(1), index);
    default: {
      std::vector<std::string> operands;
      for (const Value* operand : op.operands()) operands.push_back(use(operand, index));
      return elementwise(op, operands, {dialect_, facts_, function_.options().math_mode});
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
      all.push_back(bits_of(op->integers(part)));
    std::string own = bit_map(index.text, bases);
    if (index.constant) {
      int64_t number = 0;
      for (size_t bit = 0; bit < bases.size(); ++bit)
        if (*index.constant >> bit & 1) number ^= bases[bit];
      own = number ? std::to_string(number) : "";
    }
    if (name == "0") return own.empty() ? name : own;
    if (own.empty()) return name;
    return "(" + name + (are_disjoint(all) ? " + " : " ^ ") + own + ")";
  }
  if (value->type().rank() == 0 || registers_of(value) == 1 || locals_[value->id()]) return name;
  return name + "[" + index.text + "]";
}

std::string Emitter::use_inline(const Operation& op, const Index& index) {
  switch (op.opcode()) {
    case Opcode::kConstant:
      return dialect_.literal(op.result()->type().dtype(),
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
      linear_bases(map, bases);
      std::string text = bit_map(index.text, bases);
      return use(op.operand(0), text.empty() ? Index::of(0) : Index{text, std::nullopt});
    }
  }
}

// The lane's and warp's part as a variable, once for all that differ in registers alone; `0` where
// there is none.
void Emitter::linear(const Operation& op) {
  std::span<const int64_t> lanes = op.integers(AttributeName::kLaneBases);
  std::span<const int64_t> warps = op.integers(AttributeName::kWarpBases);
  bool disjoint = (bits_of(lanes) & bits_of(warps)) == 0;
  std::string lane = bit_map("lane", lanes), warp = bit_map("warp", warps);
  if (lane.empty() && warp.empty()) return set_name(op.result(), "0");
  std::string value = join_bits(lane, warp, disjoint);
  for (const auto& [written, text] : linears_)
    if (text == value && is_within(op, written->parent()))
      return set_name(op.result(), name_of(written->result()));
  linears_.emplace_back(&op, value);
  out_.at(op.location());
  const std::string& name = name_of(op.result());
  out_.line("const int " + name + " = int(" + value + ");");
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
  if (!type.is_pointer()) return std::string(dialect_.type_name(type.dtype()));
  return dialect_.pointer_type(type.dtype(), is_const_pointer(value));
}

bool Emitter::is_array(const Value* value) const {
  const Operation* op = value->definition();
  if (op && (is_inline(*op) || op->is(Opcode::kLinear))) return false;
  return value->type().rank() > 0 && registers_of(value) > 1 && !locals_[value->id()];
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

void Emitter::element(const Operation& op) {
  out_.line(declaration(op.result(), name_of(op.result())) + " = " +
            use(op.operand(0), Index::of(op.integer(AttributeName::kIndex))) + ";");
}

void Emitter::pack(const Operation& op) {
  declare(op.result());
  int64_t at = 0;
  for (const Value* part : op.operands())
    for (int64_t i = 0; i < registers_of(part); ++i)
      out_.line(use(op.result(), Index::of(at++)) + " = " + use(part, Index::of(i)) + ";");
}

// A map that no bit expression describes.
void Emitter::registers(const Operation& op) {
  declare(op.result());
  std::span<const int64_t> map = op.integers(AttributeName::kRegisterMap);
  for (size_t i = 0; i < map.size(); ++i)
    out_.line(use(op.result(), Index::of(static_cast<int64_t>(i))) + " = " +
              use(op.operand(0), Index::of(map[i])) + ";");
}

std::string owner_condition(const Operation& op) {
  auto is_zero = [](std::string_view name, int64_t mask) {
    return "(" + std::string(name) + " & " + std::to_string(mask) + ") == 0";
  };
  int64_t lanes = op.integer(AttributeName::kLaneMask);
  int64_t warps = op.integer(AttributeName::kWarpMask);
  if (warps == 0) return is_zero("lane", lanes);
  if (lanes == 0) return is_zero("warp", warps);
  return is_zero("lane", lanes) + " && " + is_zero("warp", warps);
}

}  // namespace enceladus::codegen
