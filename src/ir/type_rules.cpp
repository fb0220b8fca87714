#include "ir/type_rules.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "ir/opcode.h"
#include "ir/simt_rules.h"

namespace enceladus::ir {
namespace {

using Shape = std::vector<int64_t>;

Shape shape_of(const Type& type) { return {type.shape().begin(), type.shape().end()}; }

bool is_tile_of(const Type& type, const Type& element, const Shape& shape) {
  return type == element.element().with_shape(shape);
}

std::string check_source(const Operation& op) {
  const Type& result = op.result()->type();
  if (op.is(Opcode::kConstant)) {
    if (!result.is_number()) return "a constant is a number";
    uint64_t bits = static_cast<uint64_t>(op.integer(AttributeName::kBits));
    int width = bit_width(result.dtype());
    return unless(width == 64 || bits >> width == 0, "bits above the constant's width");
  }
  if (op.is(Opcode::kArange))
    return unless(result.rank() == 1 && result == Type::number(DType::kInt32, result.shape()),
                  "the result is a one-dimensional i32 tile");
  int64_t axis = op.integer(AttributeName::kAxis);
  if (axis < 0 || axis > 2) return "the axis is 0, 1 or 2";
  return unless(result == Type::number(DType::kInt32), "the result is an i32");
}

int width_of(const Type& type) { return type.is_pointer() ? 64 : bit_width(type.dtype()); }

std::string check_conversion(const Operation& op) {
  const Type& from = op.operand(0)->type();
  const Type& to = op.result()->type();
  if (!std::ranges::equal(from.shape(), to.shape())) return "the shape changes";
  if (op.is(Opcode::kCast)) return unless(to.is_number(), "the result is a number");
  if (from.is_descriptor() || to.is_descriptor()) return "a descriptor has no bits";
  return unless(width_of(from) == width_of(to), "the widths differ");
}

// Floats of 8 bits are only moved, chosen and converted.
std::string check_elementwise(const Operation& op) {
  if (op.is(Opcode::kCast) || op.is(Opcode::kBitcast)) return check_conversion(op);
  const Type& first = op.operand(0)->type();
  bool moves = op.is(Opcode::kSelect) || op.is(Opcode::kHint) || op.is(Opcode::kAddPtr);
  return unless(moves || !first.is_number() || !is_float8(first.dtype()),
                "nothing computes in floats of 8 bits");
}

std::string check_broadcast(const Type& from, const Type& to) {
  if (from.rank() != to.rank() || from.element() != to.element()) return "rank or element changes";
  for (int axis = 0; axis < from.rank(); ++axis)
    if (from.extent(axis) != to.extent(axis) && from.extent(axis) != 1)
      return "an extent other than 1 changes";
  return {};
}

std::string check_transpose(const Operation& op) {
  const Type& from = op.operand(0)->type();
  std::span<const int64_t> permutation = op.integers(AttributeName::kPermutation);
  Shape sorted(permutation.begin(), permutation.end());
  std::sort(sorted.begin(), sorted.end());
  bool valid = static_cast<int>(sorted.size()) == from.rank();
  for (size_t i = 0; valid && i < sorted.size(); ++i) valid = sorted[i] == static_cast<int64_t>(i);
  if (!valid) return "not a permutation of the axes";
  Shape shape;
  for (int64_t axis : permutation) shape.push_back(from.extent(static_cast<int>(axis)));
  return unless(is_tile_of(op.result()->type(), from, shape), "the shape is not permuted");
}

std::string check_shape(const Operation& op) {
  const Type& from = op.operand(0)->type();
  const Type& to = op.result()->type();
  switch (op.opcode()) {
    case Opcode::kSplat:
      return unless(from.rank() == 0 && to.rank() > 0 && from == to.element(),
                    "the result is a tile of the scalar");
    case Opcode::kBroadcast:
      return check_broadcast(from, to);
    case Opcode::kExpandDims: {
      int64_t axis = op.integer(AttributeName::kAxis);
      if (axis < 0 || axis > from.rank()) return "the axis is out of range";
      Shape shape = shape_of(from);
      shape.insert(shape.begin() + axis, 1);
      return unless(is_tile_of(to, from, shape), "the result has one extent of 1 more");
    }
    case Opcode::kReshape:
      return unless(
          to.rank() > 0 && from.element() == to.element() && from.elements() == to.elements(),
          "the elements are not the same");
    default:
      return check_transpose(op);
  }
}

std::string check_combine_region(const Operation& op) {
  if (op.regions().size() != 1) return "a custom combination has one region";
  const Region& region = *op.region(0);
  size_t count = op.operands().size();
  if (region.arguments().size() != 2 * count) return "the region takes two values an input";
  const Operation* yield = region.terminator();
  if (!yield || yield->operands().size() != count) return "the region yields one value an input";
  for (size_t i = 0; i < 2 * count; ++i) {
    Type element = op.operands()[i % count]->type().element();
    if (region.arguments()[i]->type() != element) return "a region argument has another type";
    if (yield->operands()[i % count]->type() != element) return "a yield has another type";
  }
  return {};
}

std::string check_reduction(const Operation& op) {
  if (op.operands().empty()) return "there is no input";
  const Type& first = op.operand(0)->type();
  int64_t axis = op.integer(AttributeName::kAxis);
  if (axis < 0 || axis >= first.rank()) return "the axis is out of range";
  Shape shape = shape_of(first);
  if (op.is(Opcode::kReduce)) shape.erase(shape.begin() + axis);
  CombineKind combine = op.enumerator<CombineKind>(AttributeName::kCombine);
  bool with_index = combine == CombineKind::kArgMax || combine == CombineKind::kArgMin;
  bool custom = combine == CombineKind::kCustom;
  if (!custom && op.operand_count() != 1) return "this combination takes one input";
  if (!custom && !op.regions().empty()) return "only a custom combination has a region";
  if (with_index && op.is(Opcode::kScan)) return "a scan has no index";
  if (op.result_count() != op.operand_count() + (with_index ? 1 : 0)) return "number of results";
  for (int i = 0; i < op.operand_count(); ++i) {
    const Type& input = op.operand(i)->type();
    if (!input.is_number()) return "an input is not a number";
    if (!std::ranges::equal(input.shape(), first.shape())) return "the inputs' shapes differ";
    if (op.result(i)->type() != input.with_shape(shape)) return "a result has another type";
  }
  if (with_index && op.result(1)->type() != Type::number(DType::kInt32, shape))
    return "the index is an i32";
  return custom ? check_combine_region(op) : std::string();
}

std::string check_dot(const Operation& op) {
  const Type& a = op.operand(0)->type();
  const Type& b = op.operand(1)->type();
  const Type& acc = op.operand(2)->type();
  int rank = a.rank();
  if (!a.is_number() || !b.is_number() || !acc.is_number()) return "the operands are numbers";
  if (rank != b.rank() || rank != acc.rank() || rank < 2 || rank > 3) return "the ranks differ";
  if (a.is_float() != b.is_float() || a.is_float() != acc.is_float())
    return "integers and floats mix";
  bool fits = a.extent(rank - 1) == b.extent(rank - 2) &&
              a.extent(rank - 2) == acc.extent(rank - 2) &&
              b.extent(rank - 1) == acc.extent(rank - 1);
  if (rank == 3) fits &= a.extent(0) == b.extent(0) && a.extent(0) == acc.extent(0);
  if (!fits) return "the shapes do not fit";
  return unless(op.result()->type() == acc, "the result has not the accumulator's type");
}

std::string check_descriptor(const Operation& op) {
  if (op.is(Opcode::kMakeDescriptor)) {
    const Type& base = op.operand(0)->type();
    const Type& type = op.result()->type();
    if (!type.is_descriptor() || base != Type::pointer(type.dtype()))
      return "the result is a descriptor of the pointee";
    return unless(op.operand_count() == 1 + 2 * type.rank(), "a size and a stride an axis");
  }
  const Type& descriptor = op.operand(0)->type();
  bool load = op.is(Opcode::kDescriptorLoad);
  const Type& block = load ? op.result()->type() : op.operand(1)->type();
  if (block != Type::number(descriptor.dtype(), descriptor.shape()))
    return "the block is not the descriptor's";
  return unless(op.operand_count() == (load ? 1 : 2) + descriptor.rank(), "an offset an axis");
}

}  // namespace

std::string check_given_types(const Operation& op) {
  switch (op.record().op_class) {
    case OpClass::kSource:
      return check_source(op);
    case OpClass::kElementwise:
      return check_elementwise(op);
    case OpClass::kShape:
      return check_shape(op);
    case OpClass::kReduction:
      return check_reduction(op);
    case OpClass::kMatrix:
      return check_dot(op);
    case OpClass::kMemory:
      if (op.is(Opcode::kMakeDescriptor) || op.is(Opcode::kDescriptorLoad) ||
          op.is(Opcode::kDescriptorStore))
        return check_descriptor(op);
      return {};
    case OpClass::kControl:
    case OpClass::kDebug:
      return {};
    case OpClass::kSimt:
      return check_simt(op);
  }
  return {};
}

std::string check_extents(const Type& type) {
  for (int64_t extent : type.shape())
    if (extent < 1 || !std::has_single_bit(static_cast<uint64_t>(extent)))
      return "an extent is not a power of two";
  return unless(type.elements() <= kMaxElements, "the tile has too many elements");
}

}  // namespace enceladus::ir
