// Random kernels over integers, floats, pointers, masks, branches and loops, for property tests.
// The same seed gives the same kernel.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"

namespace enceladus::testing {

// Parameters: two int32 pointers, `n` and `m` (int32), `u` (uint32), `w` (int64), `c` (bool).
class RandomFunction {
 public:
  // Addresses anywhere, or only within kBoundedElements behind each pointer parameter, so that a
  // kernel can run on real memory.
  enum class Addresses { kAnywhere, kBounded };
  static constexpr int64_t kBoundedElements = 256;

  explicit RandomFunction(uint32_t seed, Addresses addresses = Addresses::kAnywhere)
      : random_(seed), bounded_(addresses == Addresses::kBounded) {}

  std::unique_ptr<ir::Function> make() {
    auto function = std::make_unique<ir::Function>("random", Location{});
    using ir::Type;
    auto parameter = [&](const char* name, const Type& type, bool divisible = false) {
      ir::ParameterInfo info{.name = name, .type = type, .divisible_by_16 = divisible};
      scope_.push_back(function->append_parameter(info));
    };
    parameter("p", Type::pointer(DType::kInt32));
    parameter("q", Type::pointer(DType::kInt32));
    parameter("n", Type::number(DType::kInt32));
    parameter("m", Type::number(DType::kInt32), true);
    parameter("u", Type::number(DType::kUInt32));
    parameter("w", Type::number(DType::kInt64));
    parameter("c", Type::number(DType::kInt1));
    ir::Builder builder(*function);
    builder_ = &builder;
    for (int axis = 0; axis < 2; ++axis)
      scope_.push_back(builder.create_typed(ir::Opcode::kProgramId, {}, Type::number(DType::kInt32),
                                            {{ir::AttributeName::kAxis, int64_t{axis}}}));
    arange();
    block(30, 2);
    for (int i = 0; i < 3; ++i) store();
    return function;
  }

 private:
  using Opcode = ir::Opcode;
  using Type = ir::Type;
  using Value = ir::Value;

  int below(int count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }

  template <typename Predicate>
  Value* pick(const Predicate& fits) {
    for (int attempt = 0; attempt < 40; ++attempt) {
      // Later values are taken more often, so that chains grow.
      size_t size = scope_.size();
      size_t index =
          std::max(static_cast<size_t>(random_() % size), static_cast<size_t>(random_() % size));
      if (fits(scope_[index]->type())) return scope_[index];
    }
    return nullptr;
  }
  Value* pick(const Type& type) {
    if (Value* value = pick([&](const Type& other) { return other == type; })) return value;
    if (type.is_pointer())
      return builder_->broadcast_to(scope_[static_cast<size_t>(below(2))], type.shape());
    return constant(type);
  }
  Value* pick_integer() {
    return pick([](const Type& type) { return type.is_integer() && !type.is_bool(); });
  }

  Value* constant(const Type& type) {
    static constexpr int64_t kNumbers[] = {0,  1,    2,    3,       8,         16,       -1,
                                           -3, 1000, 4096, 1 << 20, INT32_MAX, INT32_MIN};
    if (type.is_bool()) return builder_->integer(type, below(2));
    return builder_->integer(type, kNumbers[below(std::size(kNumbers))]);
  }

  void add(Value* value) {
    if (value) scope_.push_back(value);
  }

  void arange() {
    int64_t shape[] = {8};
    add(builder_->create_typed(Opcode::kArange, {}, Type::number(DType::kInt32, shape),
                               {{ir::AttributeName::kStart, int64_t{below(3) * 8}}}));
  }

  void arithmetic() {
    static constexpr Opcode kBinary[] = {Opcode::kAdd, Opcode::kAdd, Opcode::kAdd, Opcode::kSub,
                                         Opcode::kMul, Opcode::kMul, Opcode::kDiv, Opcode::kRem,
                                         Opcode::kMin, Opcode::kMax, Opcode::kAnd, Opcode::kOr,
                                         Opcode::kXor, Opcode::kShr};
    Value* a = pick_integer();
    Value* b = below(3) ? pick(a->type()) : constant(a->type());
    add(builder_->create(kBinary[below(std::size(kBinary))], {a, b}));
  }

  void unary() {
    static constexpr Opcode kUnary[] = {Opcode::kNeg, Opcode::kNot, Opcode::kAbs};
    add(builder_->create(kUnary[below(3)], {pick_integer()}));
  }

  void shift() {
    Value* a = pick_integer();
    add(builder_->create(Opcode::kShl, {a, builder_->integer(a->type(), below(8))}));
  }

  void compare() {
    static constexpr Opcode kCompare[] = {Opcode::kEq, Opcode::kNe, Opcode::kLt,
                                          Opcode::kLe, Opcode::kGt, Opcode::kGe};
    Value* a = pick_integer();
    add(builder_->create(kCompare[below(6)],
                         {a, below(2) ? pick(a->type()) : constant(a->type())}));
  }

  void logic() {
    Value* a = pick([](const Type& type) { return type.is_bool(); });
    if (!a) return;
    static constexpr Opcode kLogic[] = {Opcode::kAnd, Opcode::kOr, Opcode::kXor};
    add(below(4) ? builder_->create(kLogic[below(3)], {a, pick(a->type())})
                 : builder_->create(Opcode::kNot, {a}));
  }

  void select() {
    Value* a = pick([](const Type& type) { return !type.is_descriptor(); });
    add(builder_->create(Opcode::kSelect,
                         {a, pick(a->type()), pick(a->type().with_dtype(DType::kInt1))}));
  }

  void cast() {
    static constexpr DType kTypes[] = {DType::kInt32, DType::kInt64,   DType::kUInt32,
                                       DType::kInt8,  DType::kFloat32, DType::kInt32};
    Value* a = pick([](const Type& type) { return type.is_number(); });
    add(builder_->cast(a, kTypes[below(std::size(kTypes))]));
  }

  void shape() {
    Value* a = pick([](const Type& type) { return type.rank() < 2; });
    if (a->type().rank() == 0) {
      int64_t shape[] = {8};
      return add(builder_->broadcast_to(a, shape));
    }
    int axis = below(2);
    int64_t expanded[] = {8, 8}, full[] = {8, 8}, split[] = {2, 4}, flat[] = {8};
    expanded[axis] = 1;
    Value* column = builder_->create_typed(Opcode::kExpandDims, {a}, a->type().with_shape(expanded),
                                           {{ir::AttributeName::kAxis, int64_t{axis}}});
    switch (below(3)) {
      case 0:
        return add(
            builder_->create_typed(Opcode::kBroadcast, {column}, a->type().with_shape(full)));
      case 1:
        return add(builder_->create_typed(Opcode::kReshape, {column}, a->type().with_shape(flat)));
      default: {
        Value* two = builder_->create_typed(Opcode::kReshape, {a}, a->type().with_shape(split));
        int64_t turned[] = {4, 2};
        Value* transposed =
            builder_->create_typed(Opcode::kTranspose, {two}, a->type().with_shape(turned),
                                   {{ir::AttributeName::kPermutation, std::vector<int64_t>{1, 0}}});
        return add(
            builder_->create_typed(Opcode::kReshape, {transposed}, a->type().with_shape(flat)));
      }
    }
  }

  Value* bounded_pointers() {
    Value* offset = pick_integer();
    Value* bound = builder_->integer(
        offset->type(),
        std::min<int64_t>(kBoundedElements - 1,
                          offset->type().dtype() == DType::kInt8 ? 127 : INT64_MAX));
    Value* base =
        builder_->broadcast_to(scope_[static_cast<size_t>(below(2))], offset->type().shape());
    return builder_->create(Opcode::kAddPtr,
                            {base, builder_->create(Opcode::kAnd, {offset, bound})});
  }

  Value* pointers() {
    if (bounded_) return bounded_pointers();
    Value* offset = pick_integer();
    Value* base = pick(Type::pointer(DType::kInt32, offset->type().shape()));
    Value* value = builder_->create(Opcode::kAddPtr, {base, offset});
    add(value);
    return value;
  }

  void load() {
    Value* pointer = pointers();
    Value* mask = below(2) ? pick(pointer->type().with_dtype(DType::kInt1)) : nullptr;
    Value* other = mask && below(2) ? pick(pointer->type().with_dtype(DType::kInt32)) : nullptr;
    add(builder_->create(Opcode::kLoad, {pointer, mask, other}));
  }

  void store() {
    Value* pointer = pointers();
    Value* mask = below(2) ? pick(pointer->type().with_dtype(DType::kInt1)) : nullptr;
    builder_->create(Opcode::kStore,
                     {pointer, pick(pointer->type().with_dtype(DType::kInt32)), mask});
  }

  void branch(int depth) {
    std::vector<Type> types;
    for (int i = below(3); i > 0; --i)
      types.push_back(pick([](const Type&) { return true; })->type());
    ir::Operation* op = builder_->if_else(pick(Type::number(DType::kInt1)), types);
    for (ir::Region* region : op->regions()) body(region, types, depth);
    for (Value* result : op->results()) add(result);
  }

  void loop(int depth) {
    std::vector<Value*> initial;
    std::vector<Type> types;
    for (int i = below(4); i > 0; --i) {
      initial.push_back(pick([](const Type&) { return true; }));
      types.push_back(initial.back()->type());
    }
    Type type = Type::number(DType::kInt32);
    int64_t step = 1 + below(4);
    ir::Operation* op = builder_->for_loop(builder_->integer(type, below(3) ? 0 : below(9) - 4),
                                           builder_->integer(type, below(14)),
                                           builder_->integer(type, step), initial);
    size_t mark = scope_.size();
    for (Value* argument : op->region(0)->arguments()) add(argument);
    body(op->region(0), types, depth);
    scope_.resize(mark);
    for (Value* result : op->results()) add(result);
  }

  // A nested block that yields values of the types; carried pointers often advance evenly.
  void body(ir::Region* region, const std::vector<Type>& types, int depth) {
    ir::Region* outer = builder_->region();
    size_t mark = scope_.size();
    builder_->set_insertion_at_end(region);
    block(6, depth - 1);
    std::vector<Value*> values;
    for (size_t i = 0; i < types.size(); ++i) {
      bool carried = region->arguments().size() > i + 1;
      if (carried && below(2) && (types[i].is_pointer() || types[i].is_integer())) {
        Value* argument = region->argument(static_cast<int>(i) + 1);
        Type scalar = Type::number(types[i].is_pointer() ? DType::kInt32 : types[i].dtype());
        Value* step =
            builder_->broadcast_to(below(2) ? pick(scalar) : constant(scalar), types[i].shape());
        values.push_back(builder_->create(types[i].is_pointer() ? Opcode::kAddPtr : Opcode::kAdd,
                                          {argument, step}));
      } else {
        values.push_back(pick(types[i]));
      }
    }
    builder_->yield(values);
    builder_->set_insertion_at_end(outer);
    scope_.resize(mark);
  }

  void block(int count, int depth) {
    for (int i = 0; i < count; ++i) {
      switch (below(depth > 0 ? 16 : 14)) {
        case 0:
          arange();
          break;
        case 1:
          unary();
          break;
        case 2:
          shift();
          break;
        case 3:
          compare();
          break;
        case 4:
          logic();
          break;
        case 5:
          select();
          break;
        case 6:
          cast();
          break;
        case 7:
        case 8:
          shape();
          break;
        case 9:
          load();
          break;
        case 10:
          store();
          break;
        case 14:
          branch(depth);
          break;
        case 15:
          loop(depth);
          break;
        default:
          arithmetic();
          break;
      }
    }
  }

  std::mt19937 random_;
  bool bounded_;
  ir::Builder* builder_ = nullptr;
  std::vector<Value*> scope_;
};

}  // namespace enceladus::testing
