#include "ir/ir.h"

#include <algorithm>

#include "ir/op_rules.h"
#include "support/check.h"

namespace enceladus::ir {
namespace {

template <typename T>
void renumber(const std::vector<Value*>& values, size_t from, T set_index) {
  for (size_t i = from; i < values.size(); ++i) set_index(values[i], static_cast<int>(i));
}

}  // namespace

Attribute::Attribute(AttributeName name, AttributeValue value)
    : name(name), value(std::move(value)) {}
Attribute::Attribute(const Attribute&) = default;
Attribute::Attribute(Attribute&&) noexcept = default;
Attribute& Attribute::operator=(const Attribute&) = default;
Attribute& Attribute::operator=(Attribute&&) noexcept = default;
Attribute::~Attribute() = default;

void Value::replace_all_uses_with(Value* other) {
  ENC_CHECK(other != this);
  std::vector<Operation*> users;
  users.swap(users_);
  for (Operation* user : users) {
    // One entry a use: each pass over the operands replaces one of them.
    auto it = std::find(user->operands_.begin(), user->operands_.end(), this);
    ENC_CHECK(it != user->operands_.end());
    *it = other;
    other->users_.push_back(user);
  }
}

void Operation::add_user(Value* value) {
  if (value) value->users_.push_back(this);
}

void Operation::drop_user(Value* value) {
  if (!value) return;
  auto it = std::find(value->users_.rbegin(), value->users_.rend(), this);
  ENC_CHECK(it != value->users_.rend());
  *it = value->users_.back();
  value->users_.pop_back();
}

void Operation::set_operand(int index, Value* value) {
  Value*& slot = operands_[static_cast<size_t>(index)];
  if (slot == value) return;
  drop_user(slot);
  slot = value;
  add_user(value);
}

void Operation::append_operand(Value* value) {
  operands_.push_back(value);
  add_user(value);
}

void Operation::erase_operand(int index) {
  drop_user(operand(index));
  operands_.erase(operands_.begin() + index);
}

Value* Operation::append_result(const Type& type) {
  Value* value = function_->new_value(type);
  value->definition_ = this;
  value->index_ = result_count();
  results_.push_back(value);
  return value;
}

void Operation::erase_result(int index) {
  ENC_CHECK(!result(index)->has_users());
  results_.erase(results_.begin() + index);
  renumber(results_, static_cast<size_t>(index), [](Value* v, int i) { v->index_ = i; });
}

bool Operation::has(AttributeName name) const {
  return std::any_of(attributes_.begin(), attributes_.end(),
                     [&](const Attribute& a) { return a.name == name; });
}

int64_t Operation::integer(AttributeName name) const {
  for (const Attribute& attribute : attributes_)
    if (attribute.name == name) return std::get<int64_t>(attribute.value);
  ENC_CHECK(false, "attribute is missing: " + std::string(info(name).name));
  return 0;
}

int64_t Operation::integer_or(AttributeName name, int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}

std::span<const int64_t> Operation::integers(AttributeName name) const {
  for (const Attribute& attribute : attributes_)
    if (attribute.name == name) return std::get<std::vector<int64_t>>(attribute.value);
  return {};
}

std::string_view Operation::text(AttributeName name) const {
  for (const Attribute& attribute : attributes_)
    if (attribute.name == name) return std::get<std::string>(attribute.value);
  return {};
}

void Operation::set_attribute(AttributeName name, AttributeValue value) {
  for (Attribute& attribute : attributes_) {
    if (attribute.name != name) continue;
    attribute.value = std::move(value);
    return;
  }
  attributes_.push_back({name, std::move(value)});
}

Operation* Operation::parent_operation() const { return parent_ ? parent_->parent() : nullptr; }

void Operation::move_before(Operation* other) {
  if (parent_) parent_->unlink(this);
  other->parent_->link(this, other);
}

void Operation::erase() {
  for (Value* result : results_) ENC_CHECK(!result->has_users(), "erasing a used value");
  for (Region* region : regions_) {
    // Backwards, so that users go before what they use.
    while (Operation* op = region->back()) op->erase();
  }
  for (Value* operand : operands_) drop_user(operand);
  operands_.clear();
  if (parent_) parent_->unlink(this);
}

Value* Region::append_argument(const Type& type, std::string_view name) {
  Value* value = function_->new_value(type);
  value->argument_of_ = this;
  value->index_ = static_cast<int>(arguments_.size());
  value->name_ = name;
  arguments_.push_back(value);
  return value;
}

void Region::erase_argument(int index) {
  ENC_CHECK(!argument(index)->has_users());
  arguments_.erase(arguments_.begin() + index);
  renumber(arguments_, static_cast<size_t>(index), [](Value* v, int i) { v->index_ = i; });
}

Operation* Region::terminator() const {
  return last_ && last_->is(Opcode::kYield) ? last_ : nullptr;
}

void Region::link(Operation* op, Operation* before) {
  op->parent_ = this;
  op->next_ = before;
  op->previous_ = before ? before->previous_ : last_;
  (op->previous_ ? op->previous_->next_ : first_) = op;
  (before ? before->previous_ : last_) = op;
}

void Region::unlink(Operation* op) {
  (op->previous_ ? op->previous_->next_ : first_) = op->next_;
  (op->next_ ? op->next_->previous_ : last_) = op->previous_;
  op->parent_ = nullptr;
  op->next_ = op->previous_ = nullptr;
}

Function::Function(std::string name, Location location)
    : name_(std::move(name)), location_(location), call_sites_(1) {
  body_ = new_region(nullptr);
}

Value* Function::append_parameter(ParameterInfo parameter) {
  Value* value = body_->append_argument(parameter.type, parameter.name);
  parameters_.push_back(std::move(parameter));
  return value;
}

int Function::parameter_index(const Value* value) const {
  return value && value->argument_of() == body_ ? value->index() : -1;
}

uint32_t Function::append_call_site(CallSite site) {
  call_sites_.push_back(site);
  return static_cast<uint32_t>(call_sites_.size() - 1);
}

Operation* Function::create(NewOperation&& description, Region* region, Operation* before) {
  Operation* op = &operations_.emplace_back();
  op->id_ = static_cast<uint32_t>(operations_.size() - 1);
  op->function_ = this;
  op->opcode_ = description.opcode;
  op->location_ = description.location;
  op->call_site_ = description.call_site;
  op->attributes_ = std::move(description.attributes);
  const OpRules& rules = op_rules(op->opcode_);
  op->operands_.reserve(std::max<size_t>(description.operands.size(), rules.fixed_operands));
  for (Value* operand : description.operands) op->append_operand(operand);
  while (op->operand_count() < rules.fixed_operands) op->append_operand(nullptr);
  for (const Type& type : description.results) op->append_result(type);
  for (int i = 0; i < description.regions; ++i) op->regions_.push_back(new_region(op));
  if (region) region->link(op, before);
  return op;
}

Value* Function::new_value(const Type& type) {
  Value* value = &values_.emplace_back();
  value->id_ = static_cast<uint32_t>(values_.size() - 1);
  value->type_ = type;
  return value;
}

Region* Function::new_region(Operation* parent) {
  Region* region = &regions_.emplace_back();
  region->function_ = this;
  region->parent_ = parent;
  return region;
}

}  // namespace enceladus::ir
