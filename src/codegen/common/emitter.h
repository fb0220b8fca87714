// The statements of a kernel: walks the SIMT IR and writes C-family text. What each language has in
// its own way, memory, barriers and matrices, is left to the dialect's own emitter, which derives
// from this one.
//
// A register array of R elements is a C array, or a plain variable where R is 1. Neighbouring
// elementwise operations of one R share a loop over the registers, and what only that loop uses is
// a variable inside it. Constants, splats, permutations of registers, pointer sums and the register
// part of `linear` are no statements: they are written out where they are used.
// Not: the kernel's signature and head.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/effects.h"
#include "analysis/facts.h"
#include "codegen/common/dialect.h"
#include "codegen/common/names.h"
#include "codegen/common/text_writer.h"
#include "ir/ir.h"

namespace enceladus::codegen {

// A register number: an expression, or a constant.
struct Index {
  std::string text;
  std::optional<int64_t> constant;
  static Index of(int64_t number) { return {std::to_string(number), number}; }
  Index plus(int64_t by) const;
};

class Emitter {
 public:
  Emitter(const ir::Function& function, Names& names, Dialect& dialect);
  virtual ~Emitter() = default;

  // The name by which the body knows a parameter.
  void set_name(const ir::Value* value, std::string name);
  void run();
  const std::string& text() const { return out_.text(); }
  bool is_const_pointer(const ir::Value* pointer) const;
  TextWriter& out() { return out_; }
  // What the kernel's assertions say, by their numbers.
  const std::vector<std::string>& messages() const { return messages_; }

 protected:
  // Write operations that the walk does not, and name their results; no elementwise operation is
  // pending.
  virtual void load(const ir::Operation& op) = 0;
  virtual void store(const ir::Operation& op) = 0;
  virtual void shared_buffer(const ir::Operation& op) = 0;
  virtual void shared_load(const ir::Operation& op) = 0;
  virtual void shared_store(const ir::Operation& op) = 0;
  virtual void barrier(const ir::Operation& op) = 0;
  virtual void mma(const ir::Operation& op) = 0;
  virtual void atomic(const ir::Operation& op) = 0;
  virtual void shared_atomic(const ir::Operation& op) = 0;
  // What only one language has.
  virtual void target_operation(const ir::Operation& op) = 0;
  // Whether an elementwise operation on arrays, a loop or a branch is target_operation's, too.
  virtual bool is_target_operation(const ir::Operation& op) const { return false; }
  // For those that target_operation does not know either.
  [[noreturn]] void refuse(const ir::Operation& op) const;
  // The value of another lane: how values of each type travel as words (`between_lanes`).
  virtual std::string moved(const ir::Operation& op, const std::string& value) = 0;
  // Writes a line of text; keeps a failed assertion of that number, from 1.
  virtual std::string print_call(const std::string& format, const std::string& arguments) = 0;
  virtual std::string failure_call(size_t number) = 0;

  // --- warp_emitter.cpp ---
  std::string between_lanes(const ir::Operation& op, const std::string& word) const;

  // --- report_emitter.cpp ---
  // `x, y, z` of the program's place in the grid, as ints.
  std::string program_place() const;

  // --- emitter.cpp ---
  // A value's register `index` (a scalar has none) as an expression that stands anywhere.
  std::string use(const ir::Value* value, const Index& index);
  std::string use(const ir::Value* scalar) { return use(scalar, Index::of(0)); }
  // Declares an array or scalar for a value and gives its name.
  const std::string& declare(const ir::Value* value);
  const std::string& name_of(const ir::Value* value);
  std::string declaration(const ir::Value* value, const std::string& name) const;
  std::string type_of(const ir::Value* value) const;
  // Whether `&use(value, r)` is the address of neighbouring registers.
  bool is_array(const ir::Value* value) const;
  static int64_t registers_of(const ir::Value* value) { return value->type().elements(); }
  // `for (int r = 0; r < registers; r += step) {`; nothing but a block where one turn is enough.
  Index open_registers(int64_t registers, int64_t step = 1);
  void close_registers(int64_t registers, int64_t step = 1);

  // --- control_emitter.cpp ---
  void for_loop(const ir::Operation& op);
  void branch(const ir::Operation& op);

  const ir::Function& function_;
  Names& names_;
  Dialect& dialect_;
  TextWriter out_;

 private:
  // --- emitter.cpp ---
  void region(const ir::Region& region);
  void operation(const ir::Operation& op);
  void scalar_statement(const ir::Operation& op);
  bool is_inline(const ir::Operation& op) const;
  std::string use_inline(const ir::Operation& op, const Index& index);
  std::string element_expression(const ir::Operation& op, const Index& index);
  void linear(const ir::Operation& op);
  void element(const ir::Operation& op);
  void pack(const ir::Operation& op);
  void registers(const ir::Operation& op);

  void other_operation(const ir::Operation& op);

  // --- warp_emitter.cpp ---
  void shuffle(const ir::Operation& op);

  // --- report_emitter.cpp ---
  void print(const ir::Operation& op);
  void assertion(const ir::Operation& op);

  // --- register_loops.cpp ---
  void append(const ir::Operation& op);
  void flush();
  bool reads_other_registers(const ir::Value* value) const;
  bool is_local(const ir::Value* value) const;

  // --- control_emitter.cpp ---
  void while_loop(const ir::Operation& op);
  void assign(std::span<ir::Value* const> targets, std::span<ir::Value* const> values);
  void assign_one(const std::string& target, const ir::Value* value);
  void alias(const ir::Value* value, const ir::Value* as);
  bool is_variable(const ir::Value* value, const ir::Value* variable) const;
  bool depends_on(const ir::Value* value, std::span<ir::Value* const> variables) const;

  analysis::Facts facts_;
  analysis::MemoryEffects effects_;
  std::vector<std::string> value_names_;  // by value id; empty where there is none yet
  std::vector<bool> locals_;              // values that live in the loop being written
  std::vector<const ir::Operation*> pending_;
  std::vector<std::string> messages_;
  std::vector<std::pair<const ir::Operation*, std::string>> linears_;  // written, and their text
};

// `(lane & mask) == 0 && ...`: what an `owner` operation says.
std::string owner_condition(const ir::Operation& op);

}  // namespace enceladus::codegen
