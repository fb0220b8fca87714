// Products that a library computes as a whole: its accumulator is spread over the threads in a way
// that only the library knows. Each thread walks the elements that it holds, computes the epilogue
// for each one from its row and column, and stores it.
#include "lowering/tile_to_simt/lowering.h"
#include "support/check.h"

namespace enceladus::simt {

using ir::AttributeName;
using ir::OpClass;
using ir::Opcode;
using ir::Operation;
using ir::Type;
using ir::Value;

namespace {}  // namespace

// The accumulator, zero, with the operands' places; before the loop.
void Lowering::start_matmul(const MatmulLoop& matmul) {
  const Operation& dot = *matmul.dot;
  builder_.set_location_of(&dot);
  Values operands, numbers;
  std::vector<int64_t> matrix;
  for (int64_t extent : dot.result()->type().shape()) matrix.push_back(extent);
  matrix.push_back(dot.operand(0)->type().extent(1));
  for (int i = 0; i < 2; ++i) {
    const DirectOperand& operand = *assignment_.direct().operand(dot, i);
    const Operation& made = *operand.load->operand(0)->definition();
    operands.push_back(scalar(made.operand(0)));
    for (int number : {2, 1, 3})  // columns, rows, elements from row to row
      numbers.push_back(builder_.cast(scalar(made.operand(number)), DType::kInt32));
    matrix.push_back(operand.axes[0] == 1);
  }
  operands.insert(operands.end(), numbers.begin(), numbers.end());
  Type type = dot.result()->type().element();
  matmuls_[matmul.loop] = builder_
                              .create(Opcode::kCooperative, operands, std::span(&type, 1),
                                      {{AttributeName::kMatrix, std::move(matrix)}})
                              ->result();
}

// One step of the loop; blocks that lie behind the arrays' ends multiply nothing.
void Lowering::multiply_matmul(const MatmulLoop& matmul) {
  report_dot(*matmul.dot, "mpp");
  Values operands;
  for (int i = 0; i < 2; ++i) {
    const Operation& load = *assignment_.direct().operand(*matmul.dot, i)->load;
    operands.push_back(scalar(load.operand(0)->definition()->operand(0)));
  }
  operands.push_back(matmuls_.at(matmul.loop));
  for (int i = 0; i < 2; ++i) {
    const Operation& load = *assignment_.direct().operand(*matmul.dot, i)->load;
    const Operation& made = *load.operand(0)->definition();
    for (int axis : {1, 0}) {
      Value* offset = builder_.cast(scalar(load.operand(1 + axis)), DType::kInt64);
      Value* size = builder_.cast(scalar(made.operand(1 + axis)), DType::kInt64);
      Value* within = builder_.create(Opcode::kMin, {offset, size});
      operands.push_back(builder_.cast(within, DType::kInt32));
    }
  }
  builder_.create(Opcode::kCooperativeMultiply, operands, {});
}

void Lowering::store_matmul(const MatmulLoop& matmul) {
  const Operation& store = *matmul.store;
  std::vector<BlockAxis> axes = block_axes(store);
  std::vector<Bases> no_threads(axes.size());
  Value* start = thread_pointer(store, axes, no_threads);
  Value* sum = matmuls_.at(matmul.loop);
  auto part = [&](std::string_view name, Value* index, const Type& type) {
    Type result = type;
    Values operands{sum, index};
    return builder_
        .create(Opcode::kCooperativePart, operands, std::span(&result, 1),
                {{AttributeName::kPart, std::string(name)}})
        ->result();
  };
  Value* capacity = part("capacity", nullptr, kInt32);
  Operation* loop = builder_.for_loop(builder_.integer(kInt32, 0), capacity,
                                      builder_.integer(kInt32, 1), Values{});
  within(loop->region(0), [&] {
    Value* index = loop->region(0)->argument(0);
    Values place{part("row", index, kInt32), part("column", index, kInt32)};
    Elements elements;
    elements[{matmul.result(), place}] = part("value", index, sum->type());
    Value* value = element_of(store.operand(1), place, elements);
    Value* mask = part("valid", index, Type::number(DType::kInt1));
    Value* pointer = start;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      mask = both(mask, inside_of(axes[axis], place[axis]));
      pointer = builder_.create(Opcode::kAddPtr, {pointer, along(axes[axis], place[axis])});
    }
    builder_.create(Opcode::kStore, Values{pointer, value, mask}, {},
                    {{AttributeName::kExclusive, int64_t{kDistinctOverTurns}}});
    builder_.yield({});
  });
}

// One element of a tile, at run-time coordinates.
Value* Lowering::element_of(const Value* tile, const Values& place, Elements& elements) {
  if (!tile || !tile->type().is_tile()) return scalar(tile);
  auto known = elements.find({tile, place});
  if (known != elements.end()) return known->second;
  const Operation& op = *tile->definition();
  Value* result = nullptr;
  switch (op.record().op_class) {
    case OpClass::kShape:
      result = element_of_shape(op, place, elements);
      break;
    case OpClass::kSource:
      if (op.is(Opcode::kArange))
        result = builder_.create(
            Opcode::kAdd, {place[0], builder_.integer(kInt32, op.integer(AttributeName::kStart))});
      else
        result = builder_.constant_bits(tile->type().element(),
                                        static_cast<uint64_t>(op.integer(AttributeName::kBits)));
      break;
    case OpClass::kMemory:
      result = loaded_element(op, place, elements);
      break;
    default: {
      ENC_CHECK(op.record().op_class == OpClass::kElementwise);
      Values operands;
      for (const Value* operand : op.operands())
        operands.push_back(element_of(operand, place, elements));
      result = apply(op, operands);
    }
  }
  return elements[{tile, place}] = result;
}

Value* Lowering::element_of_shape(const Operation& op, Values place, Elements& elements) {
  const Value* operand = op.operand(0);
  switch (op.opcode()) {
    case Opcode::kSplat:
      return scalar(operand);
    case Opcode::kBroadcast:
      for (int axis = 0; axis < operand->type().rank(); ++axis)
        if (operand->type().extent(axis) == 1)
          place[static_cast<size_t>(axis)] = builder_.integer(kInt32, 0);
      break;
    case Opcode::kExpandDims:
      place.erase(place.begin() + op.integer(AttributeName::kAxis));
      break;
    case Opcode::kTranspose: {
      Values moved(place.size());
      std::span<const int64_t> permutation = op.integers(AttributeName::kPermutation);
      for (size_t i = 0; i < place.size(); ++i)
        moved[static_cast<size_t>(permutation[i])] = place[i];
      place = std::move(moved);
      break;
    }
    default:
      ENC_CHECK(false, "no element of this shape operation");
  }
  return element_of(operand, place, elements);
}

Value* Lowering::loaded_element(const Operation& op, const Values& place, Elements& elements) {
  Type type = op.result()->type().element();
  Values operands;
  if (op.is(Opcode::kLoad)) {
    for (const Value* operand : op.operands())
      operands.push_back(operand ? element_of(operand, place, elements) : nullptr);
  } else {
    std::vector<BlockAxis> axes = block_axes(op);
    Value* pointer = thread_pointer(op, axes, std::vector<Bases>(axes.size()));
    Value* mask = nullptr;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      mask = both(mask, inside_of(axes[axis], place[axis]));
      pointer = builder_.create(Opcode::kAddPtr, {pointer, along(axes[axis], place[axis])});
    }
    operands = {pointer, mask, padding(op, type)};
  }
  return builder_.create(Opcode::kLoad, operands, std::span(&type, 1))->result();
}

}  // namespace enceladus::simt
