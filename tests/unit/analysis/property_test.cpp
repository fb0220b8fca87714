// What the analyses say about random kernels holds for every value these compute.
#include <gtest/gtest.h>

#include <optional>

#include "analysis/affine.h"
#include "analysis/facts.h"
#include "analysis/mask.h"
#include "ir/printer.h"
#include "random_function.h"
#include "tile_evaluator.h"

namespace enceladus::analysis {
namespace {

using enceladus::testing::RandomFunction;
using enceladus::testing::Tile;
using enceladus::testing::TileEvaluator;
using ir::Type;
using ir::Value;

constexpr uint32_t kKernels = 100;
constexpr int64_t kArguments[][7] = {
    {1 << 20, 1 << 28, 5, 16, 7, 100, 1},
    {1 << 20, 1 << 28, 2147483647, -48, 4294967295, -4000000000, 0},
    {1 << 20, 1 << 20, -7, 1 << 30, 1 << 31, 3, 1},
};

class Properties {
 public:
  explicit Properties(ir::Function& function, uint32_t seed)
      : function_(function),
        seed_(seed),
        facts_(function),
        exact_(function, AffineForms::Meaning::kExact, &facts_),
        wrapping_(function, AffineForms::Meaning::kWrapping, &facts_) {}

  void run() {
    for (const auto& arguments : kArguments) {
      for (int64_t program : {0, 3, 100000}) {
        TileEvaluator evaluator(function_, {program, program, 0});
        evaluator_ = &evaluator;
        evaluator.observe = [this](const Value* value, const Tile& tile) { check(value, tile); };
        evaluator.run({std::begin(arguments), std::end(arguments)});
        if (::testing::Test::HasFailure()) return;
      }
    }
  }

 private:
  void expect(bool holds, const Value* value, std::string_view what) {
    if (holds || ::testing::Test::HasFailure()) return;
    ADD_FAILURE() << what << " of value " << value->id() << " `"
                  << (value->definition() ? ir::print(*value->definition()) : "argument")
                  << "`, seed " << seed_ << "\n"
                  << ir::print(function_);
  }

  void check(const Value* value, const Tile& tile) {
    const Type& type = value->type();
    if (!type.is_integer() && !type.is_pointer()) return;
    if (type.is_integer()) check_range(value, tile);
    check_axes(value, tile);
    check_form(value, tile, exact_, "exact form");
    check_form(value, tile, wrapping_, "wrapping form");
    if (type.is_bool()) check_mask(value, tile);
  }

  void check_range(const Value* value, const Tile& tile) {
    Range range = facts_.range(value);
    bool unsigned_unknown = value->type().dtype() == DType::kUInt64 && range.low < 0;
    for (const auto& element : tile) {
      bool inside = element.exact >= range.low && element.exact <= range.high;
      expect(inside || unsigned_unknown, value, "range");
    }
  }

  void check_axes(const Value* value, const Tile& tile) {
    const Type& type = value->type();
    AxisInfo info = facts_.axis_info(value);
    __int128 step = type.is_pointer() ? byte_size(type.dtype()) : 1;
    for (int axis = 0; axis < std::max(type.rank(), 1); ++axis) {
      const AxisFacts& facts = info.axis(axis);
      int64_t extent = type.rank() ? type.extent(axis) : 1;
      int64_t inner = 1;
      for (int other = axis + 1; other < type.rank(); ++other) inner *= type.extent(other);
      for (size_t flat = 0; flat < tile.size(); ++flat) {
        int64_t index = static_cast<int64_t>(flat) / inner % extent;
        auto at = [&](int64_t other) {
          return tile[flat - static_cast<size_t>((index - other) * inner)].exact;
        };
        int64_t run = index / facts.contiguity * facts.contiguity;
        int64_t same = index / facts.constancy * facts.constancy;
        // Runs of narrow integers may wrap around.
        uint64_t expected = static_cast<uint64_t>(at(run) + (index - run) * step);
        uint64_t found = static_cast<uint64_t>(at(index));
        if (type.is_integer() && bit_width(type.dtype()) < 64) {
          uint64_t width = (uint64_t{1} << bit_width(type.dtype())) - 1;
          expected &= width;
          found &= width;
        }
        expect(expected == found, value, "contiguity");
        expect(at(index) == at(same), value, "constancy");
        if (index == run)
          expect(at(run) % std::min(facts.divisibility, kMaxDivisibility) == 0, value,
                 "divisibility");
      }
    }
  }

  std::optional<__int128> value_of(const Sum& sum) {
    __int128 total = sum.constant();
    for (const Term& term : sum.terms()) {
      __int128 product = term.coefficient;
      for (int i = 0; i < term.factor_count; ++i)
        product *= evaluator_->of(term.factors[static_cast<size_t>(i)])[0].exact;
      total += product;
    }
    return total;
  }

  // Index along an axis of the element at a flat position.
  static int64_t index_of(const Type& type, size_t flat, int axis) {
    int64_t inner = 1;
    for (int other = axis + 1; other < type.rank(); ++other) inner *= type.extent(other);
    return static_cast<int64_t>(flat) / inner % type.extent(axis);
  }

  // A factor that the evaluation has not reached yet cannot be in a form.
  bool is_known(const Affine& form, const Value* value) {
    auto known = [&](const Sum& sum) {
      for (const Term& term : sum.terms())
        for (int i = 0; i < term.factor_count; ++i) {
          const Value* factor = term.factors[static_cast<size_t>(i)];
          if (factor == value || evaluator_->of(factor).empty()) return false;
        }
      return true;
    };
    bool all = known(form.base) && form.pointer != value;
    for (const Sum& stride : form.strides) all = all && known(stride);
    return all;
  }

  void check_form(const Value* value, const Tile& tile, AffineForms& forms, std::string_view what) {
    const Affine* form = forms.of(const_cast<Value*>(value));
    const Type& type = value->type();
    if (!form || !is_known(*form, value)) return;
    for (size_t flat = 0; flat < tile.size(); ++flat) {
      __int128 expected = *value_of(form->base);
      for (int axis = 0; axis < type.rank(); ++axis)
        expected +=
            *value_of(form->strides[static_cast<size_t>(axis)]) * index_of(type, flat, axis);
      __int128 found = tile[flat].exact;
      if (type.is_pointer())
        expected = evaluator_->of(form->pointer)[0].exact + expected * byte_size(type.dtype());
      // Both are meant in 64 bits.
      expect(static_cast<uint64_t>(expected) == static_cast<uint64_t>(found), value, what);
    }
  }

  void check_mask(const Value* value, const Tile& tile) {
    MaskForm form = mask_form(const_cast<Value*>(value), wrapping_);
    for (const Value* condition : form.conditions)
      if (condition == value || evaluator_->of(condition).empty()) return;
    for (const Value* rest : form.rest)
      if (rest == value) return;
    for (size_t flat = 0; flat < tile.size(); ++flat) {
      bool on = form.always;
      for (const Value* condition : form.conditions) on &= evaluator_->of(condition)[0].bits != 0;
      for (const Value* rest : form.rest) on &= evaluator_->of(rest)[flat].bits != 0;
      for (const MaskBound& bound : form.bounds) {
        __int128 position = __int128{bound.stride} * index_of(value->type(), flat, bound.axis);
        bool below = position < *value_of(bound.limit);
        on &= below == (bound.side == MaskBound::Side::kBelow);
      }
      expect(on == (tile[flat].bits != 0), value, "mask");
    }
  }

  ir::Function& function_;
  uint32_t seed_;
  Facts facts_;
  AffineForms exact_;
  AffineForms wrapping_;
  TileEvaluator* evaluator_ = nullptr;
};

TEST(Properties, facts_and_forms_hold_for_every_element) {
  for (uint32_t seed = 0; seed < kKernels && !HasFailure(); ++seed) {
    std::unique_ptr<ir::Function> function = RandomFunction(seed).make();
    Properties(*function, seed).run();
  }
}

TEST(Range, arithmetic_contains_every_result) {
  auto contains = [](const Range& range, int64_t value) {
    return range.low <= value && value <= range.high;
  };
  for (int64_t low_a = -4; low_a <= 4; ++low_a) {
    for (int64_t high_a = low_a; high_a <= 4; high_a += 2) {
      for (int64_t low_b = -3; low_b <= 3; ++low_b) {
        for (int64_t high_b = low_b; high_b <= 3; ++high_b) {
          Range a{low_a, high_a}, b{low_b, high_b};
          for (int64_t x = low_a; x <= high_a; ++x) {
            for (int64_t y = low_b; y <= high_b; ++y) {
              EXPECT_TRUE(contains(a + b, x + y) && contains(a - b, x - y) &&
                          contains(a * b, x * y));
              EXPECT_TRUE(contains(truncated_quotient(a, b), y ? x / y : 0)) << x << " " << y;
              EXPECT_TRUE(contains(truncated_remainder(a, b), y ? x % y : x)) << x << " " << y;
              EXPECT_TRUE(contains(minimum(a, b), std::min(x, y)));
              EXPECT_TRUE(contains(maximum(a, b), std::max(x, y)));
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace enceladus::analysis
