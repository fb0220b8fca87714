// The rules behind fold.h, one operation at a time. A Simplifier makes operations in front of the
// one it looks at and folds those at once.
#pragma once

#include "ir/builder.h"
#include "ir/ir.h"

namespace enceladus::transforms {

class Simplifier {
 public:
  explicit Simplifier(ir::Function& function) : builder_(function) {}

  // A value to use in place of the operation's single result; null where there is none. May change
  // the operation in place (`changed()` tells).
  ir::Value* simplified(ir::Operation* op);
  bool changed() const { return changed_; }
  void clear_changed() { changed_ = false; }

  ir::Builder& builder() { return builder_; }

 private:
  // simplify.cpp
  ir::Value* evaluated(ir::Operation* op);
  ir::Value* hoisted_to_scalar(ir::Operation* op);
  ir::Value* make(ir::Opcode opcode, std::initializer_list<ir::Value*> operands);
  ir::Value* make_typed(ir::Opcode opcode, std::initializer_list<ir::Value*> operands,
                        const ir::Type& type, std::vector<ir::Attribute> attributes = {});
  ir::Value* refolded(ir::Value* value);
  // simplify_elementwise.cpp
  ir::Value* elementwise(ir::Operation* op);
  ir::Value* pointer_sum(ir::Operation* op);
  ir::Value* unary(ir::Operation* op);
  ir::Value* integer_binary(ir::Operation* op);
  ir::Value* reassociated(ir::Operation* op);
  ir::Value* float_binary(ir::Operation* op);
  ir::Value* comparison(ir::Operation* op);
  ir::Value* select(ir::Operation* op);
  ir::Value* conversion(ir::Operation* op);
  void constant_last(ir::Operation* op);
  // simplify_shape.cpp
  ir::Value* shape(ir::Operation* op);
  ir::Value* transpose(ir::Operation* op);

  ir::Builder builder_;
  bool changed_ = false;
};

// The scalar that all elements of the value equal: the value itself for a scalar, the operand of a
// splat; null for other tiles, also for constant ones.
ir::Value* uniform_scalar(ir::Value* value);

// Whether a tile surely has equal elements: a splat or a constant.
bool is_uniform(const ir::Value* value);

}  // namespace enceladus::transforms
