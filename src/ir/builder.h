// Builder: creates operations at an insertion point and works out their result types from
// ops.def. It folds nothing and reports nothing: callers pass operands that satisfy the op's rules
// (the verifier tells when they do not).
#pragma once

#include <initializer_list>

#include "ir/ir.h"

namespace enceladus::ir {

class Builder {
 public:
  explicit Builder(Function& function) : function_(&function), region_(&function.body()) {}

  Function& function() const { return *function_; }
  Region* region() const { return region_; }
  void set_insertion_at_end(Region* region) { region_ = region, before_ = nullptr; }
  void set_insertion_before(Operation* op) { region_ = op->parent(), before_ = op; }
  void set_insertion_after(Operation* op) { region_ = op->parent(), before_ = op->next(); }
  // Given to every operation created from now on.
  void set_location(Location location, uint32_t call_site = 0) {
    location_ = location, call_site_ = call_site;
  }
  void set_location_of(const Operation* op) { set_location(op->location(), op->call_site()); }
  const Location& location() const { return location_; }

  // The general form: explicit result types.
  Operation* create(Opcode opcode, std::span<Value* const> operands, std::span<const Type> results,
                    std::vector<Attribute> attributes = {}, int regions = 0);
  // For ops whose result rule is not `given` or `carried`: the type follows from the operands.
  Value* create(Opcode opcode, std::initializer_list<Value*> operands,
                std::vector<Attribute> attributes = {});
  // For ops with one `given` result.
  Value* create_typed(Opcode opcode, std::initializer_list<Value*> operands, const Type& type,
                      std::vector<Attribute> attributes = {});

  // `type` may be a tile. Integers are truncated to its width; `value` of the float form is
  // rounded once to nearest even.
  Value* integer(const Type& type, int64_t value);
  Value* floating(const Type& type, double value);
  Value* constant_bits(const Type& type, uint64_t bits);
  Value* boolean(bool value) { return integer(Type::number(DType::kInt1), value); }

  // The value itself where it has the type already.
  Value* cast(Value* value, DType dtype, Rounding rounding = Rounding::kNearestEven);
  // A scalar or a tile as a tile of `shape`: splat, or expand on the left and broadcast. The
  // shapes must be compatible.
  Value* broadcast_to(Value* value, std::span<const int64_t> shape);

  // The new op's regions are empty; the caller fills them and ends each with yield(). Results have
  // the types of the initial values. The loop's region gets its arguments here.
  Operation* for_loop(Value* lower, Value* upper, Value* step, std::span<Value* const> initial);
  Operation* while_loop(std::span<Value* const> initial);
  Operation* if_else(Value* condition, std::span<const Type> results);
  void yield(std::span<Value* const> values);
  void yield(std::initializer_list<Value*> values) {
    yield(std::span(values.begin(), values.size()));
  }

 private:
  Function* function_;
  Region* region_;
  Operation* before_ = nullptr;
  Location location_;
  uint32_t call_site_ = 0;
};

// Bits of a number in a dtype's own width (the upper bits are zero), rounded once to nearest even;
// and back, exactly (a uint64 above 2^63 comes back as its double or wraps in the integer form).
uint64_t bits_of(DType dtype, double value);
uint64_t bits_of_integer(DType dtype, int64_t value);
double double_of_bits(DType dtype, uint64_t bits);
int64_t integer_of_bits(DType dtype, uint64_t bits);

// The element's bits where the value is a constant.
std::optional<uint64_t> constant_bits(const Value* value);
// The integer where the value is an integer constant.
std::optional<int64_t> constant_integer(const Value* value);

}  // namespace enceladus::ir
