// The statements that only CUDA C++ has: vectors of memory with cache hints, shuffles, barriers,
// matrix instructions, atomics, reports. The walk is codegen/common/emitter.h. Not: the kernel's
// signature and prelude (kernel_text.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/common/emitter.h"
#include "codegen/cuda/dialect.h"
#include "codegen/cuda/prelude.h"

namespace enceladus::cuda {

class Emitter final : public codegen::Emitter {
 public:
  Emitter(const ir::Function& function, codegen::Names& names, CudaDialect& dialect,
          Prelude& prelude)
      : codegen::Emitter(function, names, dialect), prelude_(prelude) {}

  // Statements for the kernel's begin.
  const std::string& sum_declarations() const { return sum_declarations_; }

 private:
  using Index = codegen::Index;
  void target_operation(const ir::Operation& op) override;
  std::string moved(const ir::Operation& op, const std::string& value) override;
  std::string print_call(const std::string& format, const std::string& arguments) override;
  std::string failure_call(size_t number) override;
  bool is_target_operation(const ir::Operation& op) const override;
  std::string pair_conversion(DType from, DType to);
  void convert_pairs(const ir::Operation& op);
  void widen_pairs(const ir::Operation& op);

  // --- memory_emitter.cpp ---
  void load(const ir::Operation& op) override;
  void store(const ir::Operation& op) override;
  void shared_buffer(const ir::Operation& op) override;
  void shared_load(const ir::Operation& op) override;
  void shared_store(const ir::Operation& op) override;
  void matrix_load(const ir::Operation& op);
  void copy_async(const ir::Operation& op);
  void barrier(const ir::Operation& op) override;
  // What a load's registers hold where its mask is false.
  void fill(const ir::Value* result, const ir::Value* other, const Index& r, int64_t count);
  void move_in(const ir::Value* result, const std::string& function, const std::string& pointer,
               int64_t vector, const Index& r);

  void move_out(const ir::Value* value, const ir::Value* mask, const std::string& function,
                const std::string& pointer, int64_t vector, const Index& r);

  // --- matrix_emitter.cpp ---
  void mma(const ir::Operation& op) override;

  // --- atomic_emitter.cpp ---
  void atomic(const ir::Operation& op) override;
  void open_where_any(const ir::Value* mask);
  void shared_atomic(const ir::Operation& op) override;

  // --- async_emitter.cpp ---
  // Whether the operation was one of ir/async_ops.def, which is now written.
  bool async_operation(const ir::Operation& op);
  void scalar(const ir::Value* result, const std::string& text);
  std::string position(const ir::Operation& op) const;
  void named_barrier(const std::string& id, int64_t threads);
  void consumers_barrier();
  void ring(const ir::Operation& op);
  std::string slot_barrier(const ir::Operation& ring, const std::string& slot, bool full);
  void rings_ready();
  void ring_step(const ir::Operation& op);
  void pace(const ir::Operation& op);
  void ring_free(const ir::Operation& op);
  std::string coordinates(const ir::Operation& op);
  void copy_in(const ir::Operation& op);
  void copy_out(const ir::Operation& op);
  void store_matrix(const ir::Operation& op);
  void store_pairs(const ir::Operation& op);

  // --- wgmma_emitter.cpp ---
  // Whether a loop or branch has sums of products that run on at its border.
  bool holds_sums(const ir::Operation& op) const;
  void control_around_sums(const ir::Operation& op);
  std::string sums_of(const ir::Value* value);
  void move_in_sums(const ir::Value* sum, const std::string& array);
  void wgmma(const ir::Operation& op);
  void products(const ir::Operation& op);
  const ir::Value* loop_variable(const ir::Operation& op) const;
  std::string array_of(const ir::Value* value);
  void copy_registers(const std::string& to, const ir::Value* from);
  void wgmma_result(const ir::Operation& op);

  Prelude& prelude_;
  // A ring and the variables that are this thread's cursor in it.
  struct Ring {
    const ir::Operation* op;
    std::string slot, phase;
  };
  std::vector<Ring> rings_;
  std::map<std::string, std::string> sums_;  // the assembler's registers, by a variable's name
  std::string sum_declarations_;
};

}  // namespace enceladus::cuda
