// The statements that only the Metal Shading Language has: memory of its address spaces, SIMD-group
// functions, barriers, matrix fragments, atomics. The walk is codegen/common/emitter.h. Not: the
// kernel's signature and prelude (kernel_text.h).
#pragma once

#include <string>

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

  // --- memory_emitter.cpp ---
  void load(const ir::Operation& op);
  void store(const ir::Operation& op);
  void shared_buffer(const ir::Operation& op);
  void shared_load(const ir::Operation& op);
  void shared_store(const ir::Operation& op);
  void barrier(const ir::Operation& op);
  struct Access {
    const ir::Value* value;  // what is moved
    std::string type;        // of its elements in memory
    std::string space;       // `device`, `threadgroup`
    int64_t vector;
  };
  std::string vector_pointer(const Access& access, const std::string& pointer) const;
  void load_elements(const Access& access, const std::string& pointer, const ir::Value* mask,
                     const ir::Value* other, const Index& r);
  std::string gathered(const Access& access, const ir::Value* from, const Index& r);

  // --- matrix_emitter.cpp ---
  void mma(const ir::Operation& op);
  void atomic(const ir::Operation& op);

  // --- warp_emitter.cpp ---
  void shuffle(const ir::Operation& op);
  std::string shuffled(const ir::Operation& op, const std::string& value) const;

  Prelude& prelude_;
};

}  // namespace enceladus::metal
