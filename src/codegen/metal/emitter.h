// The statements that only the Metal Shading Language has: memory of its address spaces, SIMD-group
// functions, barriers, matrix fragments, atomics. The walk is codegen/common/emitter.h. Not: the
// kernel's signature and prelude (kernel_text.h).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codegen/common/emitter.h"
#include "codegen/metal/dialect.h"
#include "codegen/metal/prelude.h"

namespace enceladus::metal {

class Emitter final : public codegen::Emitter {
 public:
  Emitter(const ir::Function& function, codegen::Names& names, MetalDialect& dialect,
          Prelude& prelude)
      : codegen::Emitter(function, names, dialect), prelude_(prelude) {}

 private:
  using Index = codegen::Index;
  void target_operation(const ir::Operation& op) override;
  std::string moved(const ir::Operation& op, const std::string& value) override;
  std::string print_call(const std::string& format, const std::string& arguments) override;
  std::string failure_call(size_t number) override;

  // --- memory_emitter.cpp ---
  void load(const ir::Operation& op) override;
  void store(const ir::Operation& op) override;
  void shared_buffer(const ir::Operation& op) override;
  void shared_load(const ir::Operation& op) override;
  void shared_store(const ir::Operation& op) override;
  void barrier(const ir::Operation& op) override;
  struct Access {
    const ir::Value* value;  // what is moved
    std::string type;        // of its elements in memory
    std::string space;       // `device`, `threadgroup`
    int64_t vector;
  };
  void by_groups(const ir::Operation& op, const ir::Value* inside, const Access& access,
                 const std::function<void(const Access&, const Index&, bool masked)>& write);
  int64_t elements_per_word(const Access& access) const;
  std::string vector_type(const Access& access) const;
  std::string vector_part(const Access& access, const std::string& vector, int64_t i) const;
  std::string vector_pointer(const Access& access, const std::string& pointer) const;
  void load_elements(const Access& access, const std::string& pointer, const ir::Value* mask,
                     const ir::Value* other, const Index& r);
  std::string gathered(const Access& access, const ir::Value* from, const Index& r);

  // --- cooperative_emitter.cpp ---
  // The variables of a product: the operation and the tensors of its operands.
  struct Product {
    std::string multiply, left, right;
  };
  void cooperative(const ir::Operation& op);
  void cooperative_multiply(const ir::Operation& op);
  void cooperative_part(const ir::Operation& op);

  // --- matrix_emitter.cpp ---
  void mma(const ir::Operation& op) override;
  void atomic(const ir::Operation& op) override;
  void shared_atomic(const ir::Operation& op) override;

  Prelude& prelude_;
  std::map<const ir::Value*, Product> products_;  // by their accumulators
};

}  // namespace enceladus::metal
