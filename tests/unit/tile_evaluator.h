// Runs tile IR element by element, slowly and plainly: what analyses and transforms are checked
// against. On demand integers are also followed exactly, in 128 bits: what an address means before
// transforms/widen_offsets.h.
// Memory is a map from byte addresses; what was never stored reads as a hash of its address.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "ir/builder.h"
#include "ir/evaluate.h"
#include "ir/ir.h"

namespace enceladus::testing {

struct Element {
  uint64_t bits = 0;
  __int128 exact = 0;  // of integers; the byte address of pointers
};
using Tile = std::vector<Element>;
using Memory = std::map<int64_t, uint64_t>;

class TileEvaluator {
 public:
  TileEvaluator(const ir::Function& function, std::array<int64_t, 3> program)
      : program_(program), values_(function.value_count()), function_(function) {}

  bool exact_addresses = false;
  bool beyond_64_bits = false;  // an exact value was: nothing is promised then
  // Sees every value each time it gets one.
  std::function<void(const ir::Value*, const Tile&)> observe;
  Memory memory;

  // One element a parameter: bits of a number, a byte address for a pointer.
  void run(const std::vector<int64_t>& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ir::Value* value = function_.body().argument(static_cast<int>(i));
      set(value, {element(value->type(), arguments[i])});
    }
    region(function_.body());
  }
  // What memory holds at an address that nothing was stored to.
  static uint64_t untouched(const ir::Type& type, int64_t address) {
    uint64_t hash = static_cast<uint64_t>(address) * 0x9E3779B97F4A7C15u >> 40;
    return type.is_float() ? ir::bits_of(type.dtype(), static_cast<double>(hash & 255))
                           : ir::bits_of_integer(type.dtype(), static_cast<int64_t>(hash));
  }
  const Tile& of(const ir::Value* value) const { return values_[value->id()]; }

 private:
  using Opcode = ir::Opcode;
  using Operation = ir::Operation;
  using Value = ir::Value;

  static Element element(const ir::Type& type, int64_t number) {
    if (type.is_pointer()) return {static_cast<uint64_t>(number), number};
    uint64_t bits = ir::bits_of_integer(type.dtype(), number);
    return {bits, type.is_float() ? 0 : ir::integer_of_bits(type.dtype(), bits)};
  }

  void set(const Value* value, Tile tile) {
    if (observe) observe(value, tile);
    values_[value->id()] = std::move(tile);
  }

  // The value an element has at its own type.
  static Element whole(const ir::Type& type, uint64_t bits) {
    if (!type.is_integer()) return {bits, static_cast<__int128>(static_cast<int64_t>(bits))};
    if (type.dtype() == DType::kUInt64) return {bits, static_cast<__int128>(bits)};
    return {bits, ir::integer_of_bits(type.dtype(), bits)};
  }

  std::vector<Tile> yielded(const ir::Region& region) {
    this->region(region);
    std::vector<Tile> tiles;
    for (const Value* value : region.terminator()->operands()) tiles.push_back(of(value));
    return tiles;
  }

  void region(const ir::Region& region) {
    for (const Operation* op : region) operation(*op);
  }

  void operation(const Operation& op) {
    switch (op.record().op_class) {
      case ir::OpClass::kSource:
        return source(op);
      case ir::OpClass::kElementwise:
        return elementwise(op);
      case ir::OpClass::kShape:
        return shape(op);
      case ir::OpClass::kReduction:
        return reduction(op);
      case ir::OpClass::kMemory:
        return access(op);
      case ir::OpClass::kControl:
        return control(op);
      case ir::OpClass::kMatrix:
      case ir::OpClass::kDebug:
      case ir::OpClass::kSimt:
        return;
    }
  }

  void source(const Operation& op) {
    const ir::Type& type = op.result()->type();
    Tile tile;
    for (int64_t i = 0; i < type.elements(); ++i) {
      if (op.is(Opcode::kConstant)) {
        tile.push_back(whole(type, *ir::constant_bits(op.result())));
      } else if (op.is(Opcode::kArange)) {
        tile.push_back(element(type, op.integer(ir::AttributeName::kStart) + i));
      } else {
        tile.push_back(
            element(type, program_[static_cast<size_t>(op.integer(ir::AttributeName::kAxis))]));
      }
    }
    set(op.result(), std::move(tile));
  }

  static double function_of(Opcode opcode, double a, double b) {
    switch (opcode) {
      case Opcode::kExp:
        return std::exp(a);
      case Opcode::kSqrt:
        return std::sqrt(a);
      case Opcode::kDiv:
        return a / b;
      default:
        return a + 3 * b;  // anything that depends on the operands
    }
  }

  void elementwise(const Operation& op) {
    const ir::Type& type = op.result()->type();
    Tile tile;
    for (size_t i = 0; i < static_cast<size_t>(type.elements()); ++i) {
      std::vector<Element> in;
      for (const Value* operand : op.operands()) in.push_back(of(operand)[i]);
      if (op.is(Opcode::kAddPtr)) {
        __int128 address = in[0].exact + in[1].exact * byte_size(type.dtype());
        tile.push_back({static_cast<uint64_t>(address), address});
        continue;
      }
      std::vector<uint64_t> bits;
      for (const Element& e : in) bits.push_back(e.bits);
      std::optional<uint64_t> result = ir::evaluate(ir::scalar_operation(op), bits);
      if (!result) {
        DType dtype = op.operand(0)->type().dtype();
        double b = bits.size() > 1 ? ir::double_of_bits(dtype, bits[1]) : 0;
        double a = ir::double_of_bits(dtype, bits[0]);
        double value = function_of(op.opcode(), a, b);
        result = ir::bits_of(type.dtype(), std::isnan(value) ? 0 : value);
      }
      Element out = whole(type, *result);
      if (type.is_integer() && exact_addresses) {
        out.exact = exact(op, in, out.exact);
        beyond_64_bits |= out.exact >> 62 != 0 && out.exact >> 62 != -1;
      }
      if (type.is_pointer()) out = in[in[2].bits ? 0 : 1];
      tile.push_back(out);
    }
    set(op.result(), std::move(tile));
  }

  // By the rules of transforms/widen_offsets.h.
  static __int128 exact(const Operation& op, const std::vector<Element>& in, __int128 own) {
    DType dtype = op.result()->type().dtype();
    DType from = op.operand(0)->type().dtype();
    switch (op.opcode()) {
      case Opcode::kAdd:
        return in[0].exact + in[1].exact;
      case Opcode::kSub:
        return in[0].exact - in[1].exact;
      case Opcode::kMul:
        return in[0].exact * in[1].exact;
      case Opcode::kNeg:
        return -in[0].exact;
      case Opcode::kHint:
        return in[0].exact;
      case Opcode::kSelect:
        return in[in[2].bits ? 0 : 1].exact;
      case Opcode::kShl:
        return ir::constant_bits(op.operand(1)) ? in[0].exact * (__int128{1} << in[1].bits) : own;
      case Opcode::kDiv:
        if (!is_signed(dtype)) return own;
        return in[1].exact ? in[0].exact / in[1].exact : 0;
      case Opcode::kRem:
        if (!is_signed(dtype)) return own;
        return in[1].exact ? in[0].exact % in[1].exact : in[0].exact;
      case Opcode::kMin:
        return is_signed(dtype) ? std::min(in[0].exact, in[1].exact) : own;
      case Opcode::kMax:
        return is_signed(dtype) ? std::max(in[0].exact, in[1].exact) : own;
      case Opcode::kAbs:
        return !is_signed(dtype) ? own : in[0].exact < 0 ? -in[0].exact : in[0].exact;
      case Opcode::kCast: {
        bool integers = is_integer(from) && is_integer(dtype) && !is_bool(from) && !is_bool(dtype);
        bool wider = is_signed(dtype) ? bit_width(dtype) > bit_width(from)
                                      : !is_signed(from) && bit_width(dtype) >= bit_width(from);
        return integers && (wider || from == dtype) ? in[0].exact : own;
      }
      default:
        return own;
    }
  }

  static std::vector<int64_t> index_of(int64_t flat, std::span<const int64_t> shape) {
    std::vector<int64_t> index(shape.size());
    for (size_t axis = shape.size(); axis-- > 0; flat /= shape[axis])
      index[axis] = flat % shape[axis];
    return index;
  }

  static int64_t flat_of(const std::vector<int64_t>& index, std::span<const int64_t> shape) {
    int64_t flat = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) flat = flat * shape[axis] + index[axis];
    return flat;
  }

  void shape(const Operation& op) {
    const Tile& from = of(op.operand(0));
    std::span<const int64_t> source = op.operand(0)->type().shape();
    std::span<const int64_t> target = op.result()->type().shape();
    Tile tile;
    for (int64_t flat = 0; flat < op.result()->type().elements(); ++flat) {
      std::vector<int64_t> index = index_of(flat, target);
      int64_t position = flat;
      if (op.is(Opcode::kSplat)) position = 0;
      if (op.is(Opcode::kBroadcast)) {
        for (size_t axis = 0; axis < index.size(); ++axis)
          if (source[axis] == 1) index[axis] = 0;
        position = flat_of(index, source);
      }
      if (op.is(Opcode::kTranspose)) {
        std::vector<int64_t> original(index.size());
        for (size_t axis = 0; axis < index.size(); ++axis)
          original[static_cast<size_t>(op.integers(ir::AttributeName::kPermutation)[axis])] =
              index[axis];
        position = flat_of(original, source);
      }
      tile.push_back(from[static_cast<size_t>(position)]);
    }
    set(op.result(), std::move(tile));
  }

  // Sums along the axis, whatever the kind: enough to depend on every element.
  void reduction(const Operation& op) {
    const ir::Type& from = op.operand(0)->type();
    const ir::Type& type = op.result()->type();
    ASSERT_TRUE(op.is(Opcode::kReduce) && from.is_integer());
    std::vector<uint64_t> sums(static_cast<size_t>(type.elements()));
    for (int64_t flat = 0; flat < from.elements(); ++flat) {
      std::vector<int64_t> index = index_of(flat, from.shape());
      index.erase(index.begin() + op.integer(ir::AttributeName::kAxis));
      sums[static_cast<size_t>(flat_of(index, type.shape()))] +=
          of(op.operand(0))[static_cast<size_t>(flat)].bits;
    }
    Tile tile;
    for (uint64_t sum : sums)
      tile.push_back(whole(type, ir::bits_of_integer(type.dtype(), static_cast<int64_t>(sum))));
    set(op.result(), std::move(tile));
  }

  void access(const Operation& op) {
    bool load = op.is(Opcode::kLoad);
    const Tile& pointers = of(op.operand(0));
    const Value* mask = op.operand(load ? 1 : 2);
    const ir::Type& type = load ? op.result()->type() : op.operand(1)->type();
    Tile tile(pointers.size());
    for (size_t i = 0; i < pointers.size(); ++i) {
      bool on = !mask || of(mask)[i].bits;
      int64_t address = static_cast<int64_t>(pointers[i].exact);
      if (!load) {
        if (on) memory[address] = of(op.operand(1))[i].bits;
        continue;
      }
      uint64_t bits = untouched(type, address);
      if (auto it = memory.find(address); it != memory.end()) bits = it->second;
      if (!on) bits = op.operand(2) ? of(op.operand(2))[i].bits : 0;
      tile[i] = whole(type, bits);
    }
    if (load) set(op.result(), std::move(tile));
  }

  void control(const Operation& op) {
    if (op.is(Opcode::kYield)) return;
    std::vector<Tile> carried;
    if (op.is(Opcode::kIf)) {
      carried = yielded(*op.region(of(op.operand(0))[0].bits ? 0 : 1));
    } else if (op.is(Opcode::kFor)) {
      for (const Value* initial : op.operands().subspan(3)) carried.push_back(of(initial));
      int64_t step = number(op.operand(2));
      for (int64_t i = number(op.operand(0));
           step > 0 ? i < number(op.operand(1)) : i > number(op.operand(1)); i += step) {
        set(op.region(0)->argument(0), {element(op.operand(0)->type(), i)});
        assign(*op.region(0), 1, carried);
        carried = yielded(*op.region(0));
      }
    } else {
      for (const Value* initial : op.operands()) carried.push_back(of(initial));
      for (int round = 0;; ++round) {
        ASSERT_LT(round, 1000);
        assign(*op.region(0), 0, carried);
        if (!yielded(*op.region(0))[0][0].bits) break;
        assign(*op.region(1), 0, carried);
        carried = yielded(*op.region(1));
      }
    }
    for (int i = 0; i < op.result_count(); ++i) set(op.result(i), carried[static_cast<size_t>(i)]);
  }

  int64_t number(const Value* value) const {
    return ir::integer_of_bits(value->type().dtype(), of(value)[0].bits);
  }

  void assign(const ir::Region& region, int skipped, const std::vector<Tile>& tiles) {
    for (size_t i = 0; i < tiles.size(); ++i)
      set(region.argument(static_cast<int>(i) + skipped), tiles[i]);
  }

  std::array<int64_t, 3> program_;
  std::vector<Tile> values_;
  const ir::Function& function_;
};

}  // namespace enceladus::testing
