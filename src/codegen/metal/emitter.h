// The statements of a kernel: walks the SIMT IR and writes MSL.
//
// A register array of R elements is a C array, or a plain variable where R is 1. Neighbouring
// elementwise operations of one R share a loop over the registers, and what only that loop uses is
// a variable inside it. Constants, splats, permutations of registers, pointer sums and the register
// part of `linear` are no statements: they are written out where they are used.
// Not: the kernel's signature and prelude (kernel_text.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/effects.h"
#include "analysis/facts.h"
#include "codegen/common/names.h"
#include "codegen/common/text_writer.h"
#include "codegen/metal/prelude.h"
#include "ir/ir.h"

namespace enceladus::metal {

// A register number: an expression, or a constant.
struct Index {
  std::string text;
  std::optional<int64_t> constant;
  static Index of(int64_t number) { return {std::to_string(number), number}; }
};

class Emitter {
 public:
  Emitter(const ir::Function& function, codegen::Names& names, Prelude& prelude);

  // The name by which the body knows a parameter.
  void set_name(const ir::Value* value, std::string name);
  void run();
  const std::string& text() const { return out_.text(); }
  bool is_const_pointer(const ir::Value* pointer) const;
  codegen::TextWriter& out() { return out_; }

 private:
  // --- emitter.cpp ---
  void region(const ir::Region& region);
  void operation(const ir::Operation& op);
  void scalar_statement(const ir::Operation& op);
  bool is_inline(const ir::Operation& op) const;
  // A value's register `index` (a scalar has none) as an expression that stands anywhere.
  std::string use(const ir::Value* value, const Index& index);
  std::string use(const ir::Value* scalar) { return use(scalar, Index::of(0)); }
  std::string use_inline(const ir::Operation& op, const Index& index);
  std::string element_expression(const ir::Operation& op, const Index& index);
  // Declares an array or scalar for a value and gives its name.
  const std::string& declare(const ir::Value* value);
  const std::string& name_of(const ir::Value* value);
  std::string declaration(const ir::Value* value, const std::string& name) const;
  std::string type_of(const ir::Value* value) const;
  static int64_t registers_of(const ir::Value* value) { return value->type().elements(); }
  // `for (int r = 0; r < registers; r += step) {`; nothing but a block where one turn is enough.
  Index open_registers(int64_t registers, int64_t step = 1);
  void close_registers(int64_t registers, int64_t step = 1);
  void linear(const ir::Operation& op);

  // --- register_loops.cpp ---
  void append(const ir::Operation& op);
  void flush();
  bool reads_other_registers(const ir::Value* value) const;
  bool is_local(const ir::Value* value) const;

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
  static Index shifted(const Index& index, int64_t by);

  // --- control_emitter.cpp ---
  void for_loop(const ir::Operation& op);
  void while_loop(const ir::Operation& op);
  void branch(const ir::Operation& op);
  void assign(std::span<ir::Value* const> targets, std::span<ir::Value* const> values);
  void assign_one(const std::string& target, const ir::Value* value);
  void alias(const ir::Value* value, const ir::Value* as);
  bool depends_on(const ir::Value* value, std::span<ir::Value* const> variables) const;

  // --- matrix_emitter.cpp ---
  void mma(const ir::Operation& op);
  void atomic(const ir::Operation& op);

  // --- warp_emitter.cpp ---
  void element(const ir::Operation& op);
  void pack(const ir::Operation& op);
  void registers(const ir::Operation& op);
  void shuffle(const ir::Operation& op);
  std::string shuffled(const ir::Operation& op, const std::string& value) const;

  const ir::Function& function_;
  codegen::Names& names_;
  Prelude& prelude_;
  analysis::Facts facts_;
  analysis::MemoryEffects effects_;
  codegen::TextWriter out_;
  std::vector<std::string> value_names_;  // by value id; empty where there is none yet
  std::vector<bool> locals_;              // values that live in the loop being written
  std::vector<const ir::Operation*> pending_;
};

}  // namespace enceladus::metal
