#include "lowering/tile_to_loop/aliasing.h"

#include <algorithm>
#include <unordered_set>

namespace enceladus::loop {
namespace {

using ir::Opcode;

constexpr int kAnywhere = -1;

class OriginSearch {
 public:
  explicit OriginSearch(const ir::Function& function) : function_(function) {}

  void visit(const ir::Value* value) {
    if (value == nullptr || !seen_.insert(value).second) return;
    if (const int parameter = function_.parameter_index(value); parameter >= 0) {
      found_.push_back(parameter);
    } else if (const ir::Region* region = value->argument_of()) {
      visit_argument(region, value->index());
    } else {
      visit_definition(value->definition(), value->index());
    }
  }

  std::vector<int> take() {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  void visit_carried(const ir::Operation* loop, int index) {
    const bool is_for = loop->is(Opcode::kFor);
    visit(loop->operand(index + (is_for ? 3 : 0)));
    const ir::Operation* yield = loop->region(is_for ? 0 : 1)->terminator();
    if (yield != nullptr) visit(yield->operand(index));
  }

  void visit_argument(const ir::Region* region, int index) {
    const ir::Operation* loop = region->parent();
    if (loop == nullptr || (loop->is(Opcode::kFor) && index == 0)) {
      found_.push_back(kAnywhere);
    } else {
      visit_carried(loop, index - (loop->is(Opcode::kFor) ? 1 : 0));
    }
  }

  void visit_definition(const ir::Operation* op, int index) {
    switch (op->opcode()) {
      case Opcode::kAddPtr:
      case Opcode::kHint:
      case Opcode::kSplat:
      case Opcode::kBroadcast:
      case Opcode::kExpandDims:
      case Opcode::kReshape:
      case Opcode::kTranspose:
      case Opcode::kMakeDescriptor:
        return visit(op->operand(0));
      case Opcode::kSelect:
        visit(op->operand(0));
        return visit(op->operand(1));
      case Opcode::kBitcast:
        if (op->operand(0)->type().is_pointer()) return visit(op->operand(0));
        break;
      case Opcode::kFor:
      case Opcode::kWhile:
        return visit_carried(op, index);
      case Opcode::kIf:
        for (const ir::Region* region : op->regions())
          if (const ir::Operation* yield = region->terminator()) visit(yield->operand(index));
        return;
      default:
        break;
    }
    found_.push_back(kAnywhere);
  }

  const ir::Function& function_;
  std::unordered_set<const ir::Value*> seen_;
  std::vector<int> found_;
};

bool is_index_arithmetic(const ir::Value* value) {
  if (value->type().rank() == 0) return true;
  const ir::Operation* op = value->definition();
  if (op == nullptr) return false;
  switch (op->opcode()) {
    case Opcode::kConstant:
    case Opcode::kArange:
    case Opcode::kSplat:
      return true;
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kAddPtr:
    case Opcode::kCast:
    case Opcode::kHint:
    case Opcode::kBroadcast:
    case Opcode::kExpandDims:
    case Opcode::kReshape:
    case Opcode::kTranspose:
      return std::all_of(op->operands().begin(), op->operands().end(), is_index_arithmetic);
    default:
      return false;
  }
}

// Offsets of a descriptor access; empty for others.
std::span<ir::Value* const> offsets_of(const ir::Operation* op) {
  if (op->is(Opcode::kDescriptorLoad)) return op->operands().subspan(1);
  if (op->is(Opcode::kDescriptorStore)) return op->operands().subspan(2);
  return {};
}

}  // namespace

std::vector<int> Aliasing::origins(const ir::Value* pointer) const {
  OriginSearch search(*function_);
  search.visit(pointer);
  return search.take();
}

bool Aliasing::may_alias(const ir::Operation* writer, const ir::Operation* other) const {
  const std::vector<int> first = origins(writer->operand(0));
  const std::vector<int> second = origins(other->operand(0));
  const bool anywhere = first.front() == kAnywhere || second.front() == kAnywhere;
  if (anywhere || !function_->options().arrays_disjoint) return true;
  std::vector<int> common;
  std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                        std::back_inserter(common));
  return !common.empty();
}

bool same_elements(const ir::Operation* first, const ir::Operation* second) {
  const ir::Value* pointer = first->operand(0);
  if (pointer != second->operand(0)) return false;
  if (!pointer->type().is_descriptor()) return is_index_arithmetic(pointer);
  const auto one = offsets_of(first), two = offsets_of(second);
  return std::equal(one.begin(), one.end(), two.begin(), two.end());
}

}  // namespace enceladus::loop
