// Constant folding gives the bits of run time: ir/evaluate.h against compiled code, for every
// elementwise operation, every dtype and all pairs of awkward and random values.
#include <gtest/gtest.h>

#include <random>

#include "ir/evaluate.h"
#include "ir/op_rules.h"
#include "ir/printer.h"
#include "kernel_runner.h"

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using ir::Type;
using ir::Value;

constexpr int64_t kValues = 32;
constexpr int64_t kPairs = kValues * kValues;

std::vector<uint64_t> awkward_values(DType dtype) {
  std::vector<uint64_t> values;
  if (is_float(dtype)) {
    for (double value : {0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, 1e-3, 127.5, 255.0, 65504.0,
                         65519.0, -3e9, 1e19, 0x1p-24, 0x1p-126, 0x1p-149, 3.4e38})
      values.push_back(ir::bits_of(dtype, value));
    for (double value :
         {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN()})
      values.push_back(ir::bits_of(dtype, value));
  } else {
    int64_t half = int64_t{1} << (std::max(bit_width(dtype), 2) - 2);
    for (int64_t value : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{3}, int64_t{7},
                          int64_t{8}, int64_t{-8}, int64_t{100}, int64_t{-100}, half, half - 1,
                          2 * (half - 1) + 1, -half, 31 + half})
      values.push_back(ir::bits_of_integer(dtype, value));
    values.push_back(
        ir::bits_of_integer(dtype, static_cast<int64_t>(static_cast<uint64_t>(half) * 2)));
  }
  std::mt19937_64 random(7);
  while (values.size() < static_cast<size_t>(kValues))
    values.push_back(
        ir::bits_of_integer(DType::kInt64, static_cast<int64_t>(random())) &
        (bit_width(dtype) == 64 ? ~uint64_t{0} : (uint64_t{1} << bit_width(dtype)) - 1));
  return values;
}

// An array in memory whose elements are read and written as bits.
class Array {
 public:
  Array(DType dtype, int64_t count)
      : bytes_(byte_size(dtype)), memory_(static_cast<size_t>(count * byte_size(dtype))) {}
  char* data() { return memory_.data(); }
  void set(int64_t index, uint64_t bits) {
    std::memcpy(&memory_[static_cast<size_t>(index * bytes_)], &bits, static_cast<size_t>(bytes_));
  }
  uint64_t at(int64_t index) const {
    uint64_t bits = 0;
    std::memcpy(&bits, &memory_[static_cast<size_t>(index * bytes_)], static_cast<size_t>(bytes_));
    return bits;
  }

 private:
  int64_t bytes_;
  std::vector<char> memory_;
};

class FoldingTest : public testing::TestWithParam<DType> {
 protected:
  DType dtype() const { return GetParam(); }

  Value* pointers(const char* name, DType pointee) {
    Value* base = function_.append_parameter({.name = name, .type = Type::pointer(pointee)});
    return builder_.create(Opcode::kAddPtr, {builder_.broadcast_to(base, shape_), index_});
  }

  void start() {
    function_.options().math_mode = ir::MathMode::kPrecise;
    index_ = builder_.create_typed(Opcode::kArange, {}, Type::number(DType::kInt32, shape_),
                                   {{ir::AttributeName::kStart, int64_t{0}}});
    inputs_.clear();
    std::vector<uint64_t> values = awkward_values(dtype());
    for (int operand = 0; operand < 3; ++operand) {
      Array& input = inputs_.emplace_back(dtype(), kPairs);
      for (int64_t i = 0; i < kPairs; ++i) {
        int64_t which = operand == 0 ? i / kValues : operand == 1 ? i % kValues : (i * 7) % kValues;
        input.set(i, values[static_cast<size_t>(which)]);
      }
      loaded_.push_back(builder_.create(Opcode::kLoad, {pointers("in", dtype())}));
    }
  }

  struct Output {
    ir::ScalarOperation operation;
    int operands;
    Array array;
    std::string text;
  };

  void store(Value* value, ir::ScalarOperation operation, int operands) {
    DType result = value->type().dtype();
    builder_.create(Opcode::kStore, {pointers("out", result), value});
    outputs_.push_back(
        {operation, operands, Array(result, kPairs), ir::print(*value->definition())});
  }

  void add(Opcode opcode) {
    const ir::OpRules& rules = ir::op_rules(opcode);
    int count = static_cast<int>(rules.operands.size());
    Type type = Type::number(dtype(), shape_);
    Type result = rules.result == ir::ResultRule::kBoolLike ? type.with_dtype(DType::kInt1) : type;
    Value* value = builder_
                       .create(opcode, std::span(loaded_).first(static_cast<size_t>(count)),
                               std::span(&result, 1))
                       ->result();
    store(value, {.opcode = opcode, .operand = dtype(), .result = result.dtype()}, count);
  }

  void run_and_compare() {
    KernelRunner kernel(function_);
    for (Array& input : inputs_) kernel.argument(input.data());
    for (Output& output : outputs_) kernel.argument(output.array.data());
    kernel.run(1);
    for (const Output& output : outputs_) {
      int64_t folded = 0;
      for (int64_t i = 0; i < kPairs; ++i) {
        std::vector<uint64_t> operands;
        for (int k = 0; k < output.operands; ++k)
          operands.push_back(inputs_[static_cast<size_t>(k)].at(i));
        std::optional<uint64_t> expected = ir::evaluate(output.operation, operands);
        if (!expected) continue;
        ++folded;
        ASSERT_EQ(output.array.at(i), *expected)
            << output.text << " of " << ir::constant_text(dtype(), operands[0])
            << (operands.size() > 1 ? " and " + ir::constant_text(dtype(), operands[1]) : "");
      }
      EXPECT_GT(folded, 0) << output.text;
    }
  }

  bool applies(const ir::OpRecord& record) {
    if (record.op_class != ir::OpClass::kElementwise) return false;
    switch (ir::op_rules(record.opcode).operands[0].rule) {
      case ir::OperandRule::kInt:
        return is_integer(dtype());
      case ir::OperandRule::kFloat:
        return is_float(dtype());
      default:
        return true;
    }
  }

  ir::Function function_{"kernel", {}};
  ir::Builder builder_{function_};
  std::vector<int64_t> shape_{kPairs};
  Value* index_ = nullptr;
  std::vector<Value*> loaded_;
  std::vector<Array> inputs_;
  std::vector<Output> outputs_;
};

TEST_P(FoldingTest, arithmetic_and_comparisons_equal_run_time) {
  start();
  std::vector<uint64_t> ones(3, ir::bits_of(dtype(), 1.0));
  for (const ir::OpRecord& record : ir::kOps) {
    if (!applies(record)) continue;
    switch (record.opcode) {
      case Opcode::kSelect:
      case Opcode::kCast:
      case Opcode::kBitcast:
      case Opcode::kAddPtr:
      case Opcode::kHint:
        continue;
      default:
        break;
    }
    size_t count = ir::op_rules(record.opcode).operands.size();
    DType result =
        ir::op_rules(record.opcode).result == ir::ResultRule::kBoolLike ? DType::kInt1 : dtype();
    // Ones fold wherever anything does.
    if (ir::evaluate({.opcode = record.opcode, .operand = dtype(), .result = result},
                     std::span(ones).first(count)))
      add(record.opcode);
  }
  run_and_compare();
}

TEST_P(FoldingTest, conversions_equal_run_time) {
  start();
  for (const DTypeInfo& to : kDTypes) {
    if (to.dtype == dtype()) continue;
    Value* value = builder_.cast(loaded_[0], to.dtype);
    store(value, {.opcode = Opcode::kCast, .operand = dtype(), .result = to.dtype}, 1);
    bool narrow = is_float(to.dtype) && bit_width(to.dtype) < 32 && is_float(dtype()) &&
                  bit_width(dtype()) > bit_width(to.dtype);
    if (!narrow) continue;
    value = builder_.cast(loaded_[0], to.dtype, ir::Rounding::kTowardZero);
    store(value,
          {.opcode = Opcode::kCast,
           .operand = dtype(),
           .result = to.dtype,
           .rounding = ir::Rounding::kTowardZero},
          1);
  }
  run_and_compare();
}

INSTANTIATE_TEST_SUITE_P(DTypes, FoldingTest,
                         testing::Values(DType::kInt1, DType::kInt8, DType::kInt16, DType::kInt32,
                                         DType::kInt64, DType::kUInt8, DType::kUInt16,
                                         DType::kUInt32, DType::kUInt64, DType::kFloat8E4M3,
                                         DType::kFloat8E5M2, DType::kFloat16, DType::kBFloat16,
                                         DType::kFloat32, DType::kFloat64),
                         [](const auto& info) {
                           return std::string(enceladus::info(info.param).python_name);
                         });

}  // namespace
}  // namespace enceladus::cpu
