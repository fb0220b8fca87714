// The tile IR: values, operations, regions and functions.
//
// A Function is one kernel. Its body is a Region: a list of operations in program order, with
// block arguments (for the body: the run-time parameters). Control flow is structured: `for`,
// `while` and `if` hold regions of their own, and a region ends in one `yield` (the body in none).
// A value is defined once and is visible behind its definition in the same region and in the
// regions nested there.
//
// Everything is allocated in the Function's arena and lives as long as it does; raw pointers never
// own. An erased operation is unlinked, its memory stays. Not thread safe; a Function belongs to
// one thread at a time.
#pragma once

#include <deque>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/opcode.h"
#include "ir/type.h"
#include "support/diagnostics.h"

namespace enceladus::ir {

class Function;
class Operation;
class Region;

class Value {
 public:
  const Type& type() const { return type_; }
  void set_type(const Type& type) { type_ = type; }
  // The operation whose result this is; null for a region argument.
  Operation* definition() const { return definition_; }
  // The region whose argument this is; null for a result.
  Region* argument_of() const { return argument_of_; }
  int index() const { return index_; }  // among the results or arguments
  // Dense within the Function and below its value_count(): an index into side tables.
  uint32_t id() const { return id_; }
  // The user's name for it; may be empty. For messages and text only.
  const std::string& name() const { return name_; }
  void set_name(std::string_view name) { name_ = name; }
  // One entry a use, so an operation that uses a value twice stands here twice.
  std::span<Operation* const> users() const { return users_; }
  bool has_users() const { return !users_.empty(); }
  void replace_all_uses_with(Value* other);

 private:
  friend class Function;
  friend class Operation;
  friend class Region;
  Type type_;
  Operation* definition_ = nullptr;
  Region* argument_of_ = nullptr;
  int index_ = 0;
  uint32_t id_ = 0;
  std::string name_;
  std::vector<Operation*> users_;
};

using AttributeValue = std::variant<int64_t, std::vector<int64_t>, std::string>;
struct Attribute {
  AttributeName name;
  AttributeValue value;  // enumerators and bits are int64_t

  // Out of line: an inlined move of the variant is large, and GCC takes it for a read of
  // uninitialized memory.
  Attribute(AttributeName name, AttributeValue value);
  Attribute(const Attribute&);
  Attribute(Attribute&&) noexcept;
  Attribute& operator=(const Attribute&);
  Attribute& operator=(Attribute&&) noexcept;
  ~Attribute();
  bool operator==(const Attribute&) const = default;
};

class Operation {
 public:
  Opcode opcode() const { return opcode_; }
  bool is(Opcode opcode) const { return opcode_ == opcode; }
  // Dense within the Function and below its operation_count(); erased operations keep theirs.
  uint32_t id() const { return id_; }
  const OpRecord& record() const { return info(opcode_); }
  const Location& location() const { return location_; }
  // Where the helper that holds this operation was called; 0 for the kernel itself. An index into
  // Function::call_sites.
  uint32_t call_site() const { return call_site_; }

  std::span<Value* const> operands() const { return operands_; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  Value* operand(int index) const { return operands_[static_cast<size_t>(index)]; }  // may be null
  void set_operand(int index, Value* value);
  void append_operand(Value* value);
  void erase_operand(int index);

  std::span<Value* const> results() const { return results_; }
  int result_count() const { return static_cast<int>(results_.size()); }
  Value* result(int index = 0) const { return results_[static_cast<size_t>(index)]; }
  Value* append_result(const Type& type);
  void erase_result(int index);  // must have no users

  std::span<Region* const> regions() const { return regions_; }
  Region* region(int index) const { return regions_[static_cast<size_t>(index)]; }

  std::span<const Attribute> attributes() const { return attributes_; }
  bool has(AttributeName name) const;
  int64_t integer(AttributeName name) const;  // ENC_CHECKs that it is there
  int64_t integer_or(AttributeName name, int64_t otherwise) const;
  template <typename Enumeration>
  Enumeration enumerator(AttributeName name) const {
    return static_cast<Enumeration>(integer(name));
  }
  std::span<const int64_t> integers(AttributeName name) const;
  std::string_view text(AttributeName name) const;  // empty where absent
  void set_attribute(AttributeName name, AttributeValue value);

  Region* parent() const { return parent_; }
  Operation* parent_operation() const;  // the control operation around it, or null
  Operation* next() const { return next_; }
  Operation* previous() const { return previous_; }

  void move_before(Operation* other);
  // Unlinks it and drops its uses (those of its regions too). Results must have no users.
  void erase();

 private:
  friend class Function;
  friend class Region;
  friend class Value;
  void add_user(Value* value);
  void drop_user(Value* value);

  Opcode opcode_ = Opcode::kConstant;
  uint32_t id_ = 0;
  Location location_;
  uint32_t call_site_ = 0;
  Function* function_ = nullptr;
  Region* parent_ = nullptr;
  Operation* next_ = nullptr;
  Operation* previous_ = nullptr;
  std::vector<Value*> operands_;
  std::vector<Value*> results_;
  std::vector<Region*> regions_;
  std::vector<Attribute> attributes_;
};

class Region {
 public:
  std::span<Value* const> arguments() const { return arguments_; }
  Value* argument(int index) const { return arguments_[static_cast<size_t>(index)]; }
  Value* append_argument(const Type& type, std::string_view name = {});
  void erase_argument(int index);  // must have no users

  bool empty() const { return first_ == nullptr; }
  Operation* front() const { return first_; }
  Operation* back() const { return last_; }
  Operation* terminator() const;                 // the yield at its end, or null
  Operation* parent() const { return parent_; }  // null for a function's body
  Function* function() const { return function_; }

  // Iterates in program order; the current operation may be erased or moved while iterating.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Operation*;
    using difference_type = std::ptrdiff_t;
    using pointer = Operation**;
    using reference = Operation*;
    explicit Iterator(Operation* op) : current_(op), next_(op ? op->next() : nullptr) {}
    Operation* operator*() const { return current_; }
    Iterator& operator++() {
      current_ = next_;
      next_ = current_ ? current_->next() : nullptr;
      return *this;
    }
    bool operator==(const Iterator& other) const { return current_ == other.current_; }

   private:
    Operation* current_;
    Operation* next_;
  };
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(nullptr); }

 private:
  friend class Function;
  friend class Operation;
  void link(Operation* op, Operation* before);  // before == null: at the end
  void unlink(Operation* op);

  Function* function_ = nullptr;
  Operation* parent_ = nullptr;
  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
  std::vector<Value*> arguments_;
};

// A run-time parameter of the kernel; its value is the body's argument of the same index.
struct ParameterInfo {
  std::string name;
  Type type;                     // a scalar number or a pointer
  bool divisible_by_16 = false;  // integers
  bool equal_to_1 = false;       // integers
  bool aligned_16 = false;       // pointers: the address is a multiple of 16 bytes
};

enum class MathMode : uint8_t { kRelaxed, kFast, kPrecise };
// How a launch asks for matrix products; a target that has not what is named takes its own choice.
enum class DotBackend : uint8_t { kAuto, kSimdgroup, kMpp, kWgmma, kMma };

struct FunctionOptions {
  int num_warps = 4;
  MathMode math_mode = MathMode::kRelaxed;
  bool debug = false;
  // No array that the kernel writes overlaps another array argument.
  bool arrays_disjoint = false;
  // Every array argument spans fewer than 2^31 elements.
  bool arrays_small = false;
  // The grid of warps over each dot result, rows and columns; 0 by 0: the target's choice.
  int dot_warps_m = 0;
  int dot_warps_n = 0;
  DotBackend dot_backend = DotBackend::kAuto;
  int num_stages = 0;  // slots of a loop's ring of loads; 0: the target's choice
};

struct CallSite {
  Location location;
  uint32_t caller = 0;  // the call site around this one; 0 for none
};

class Function {
 public:
  Function(std::string name, Location location);
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  const std::string& name() const { return name_; }
  const Location& location() const { return location_; }
  Region& body() { return *body_; }
  const Region& body() const { return *body_; }
  FunctionOptions& options() { return options_; }
  const FunctionOptions& options() const { return options_; }

  std::span<const ParameterInfo> parameters() const { return parameters_; }
  Value* append_parameter(ParameterInfo parameter);
  // The parameter's index where the value is one, else -1.
  int parameter_index(const Value* value) const;

  // Index 0 stands for "in the kernel itself".
  const std::vector<CallSite>& call_sites() const { return call_sites_; }
  uint32_t append_call_site(CallSite site);

  size_t value_count() const { return values_.size(); }
  size_t operation_count() const { return operations_.size(); }

  // ir/builder.h is the usual way to create operations. Optional operands that are left out are
  // filled with null, so that every operation of an opcode has all its fixed operands.
  struct NewOperation {
    Opcode opcode;
    Location location;
    uint32_t call_site = 0;
    std::span<Value* const> operands;
    std::span<const Type> results;
    std::vector<Attribute> attributes;
    int regions = 0;
  };
  Operation* create(NewOperation&& description, Region* region, Operation* before);

 private:
  friend class Operation;
  friend class Region;
  Value* new_value(const Type& type);
  Region* new_region(Operation* parent);

  std::string name_;
  Location location_;
  FunctionOptions options_;
  std::vector<ParameterInfo> parameters_;
  std::vector<CallSite> call_sites_;
  std::deque<Value> values_;
  std::deque<Operation> operations_;
  std::deque<Region> regions_;
  Region* body_;
};

// Calls `visit(Operation*)` for every operation of the region and of the regions nested in it, in
// program order (an operation before its regions). The visited operation may be erased unless it
// has regions.
template <typename Visit>
void walk(const Region& region, const Visit& visit) {
  for (Operation* op : region) {
    visit(op);
    for (Region* nested : op->regions()) walk(*nested, visit);
  }
}

}  // namespace enceladus::ir
