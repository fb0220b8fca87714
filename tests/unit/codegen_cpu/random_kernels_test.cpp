// Random kernels on real memory leave what the plain evaluator of tile IR leaves.
#include <gtest/gtest.h>

#include "ir/printer.h"
#include "kernel_runner.h"
#include "random_function.h"
#include "tile_evaluator.h"
#include "transforms/tile_passes.h"

namespace enceladus::cpu {
namespace {

using enceladus::testing::RandomFunction;
using enceladus::testing::TileEvaluator;

constexpr uint32_t kKernels = 40;
constexpr int64_t kElements = RandomFunction::kBoundedElements;
constexpr int32_t kPrograms = 2;

class Arrays {
 public:
  Arrays() : memory_(2 * kElements) {
    for (int64_t i = 0; i < 2 * kElements; ++i)
      memory_[static_cast<size_t>(i)] = static_cast<int32_t>(ir::integer_of_bits(
          DType::kInt32, TileEvaluator::untouched(Type::number(DType::kInt32), address(i))));
  }
  int64_t address(int64_t element) const {
    return reinterpret_cast<int64_t>(memory_.data()) + 4 * element;
  }
  int32_t at(int64_t element) const { return memory_[static_cast<size_t>(element)]; }

 private:
  using Type = ir::Type;
  std::vector<int32_t> memory_;
};

// How many elements the kernel stored to.
void check(uint32_t seed, size_t* stored_elements) {
  std::unique_ptr<ir::Function> function =
      RandomFunction(seed, RandomFunction::Addresses::kBounded).make();
  std::string text = ir::print(*function);
  Arrays arrays;
  std::vector<int64_t> arguments = {
      arrays.address(0), arrays.address(kElements), 5, 48, 4000000000, -7000000000, seed % 2};
  enceladus::testing::Memory expected;
  for (int32_t program = 0; program < kPrograms; ++program) {
    TileEvaluator evaluator(*function, {program, 0, 0});
    evaluator.exact_addresses = true;
    evaluator.memory = std::move(expected);
    evaluator.run(arguments);
    expected = std::move(evaluator.memory);
  }
  *stored_elements += expected.size();
  transforms::optimize(*function);
  KernelRunner kernel(*function);
  for (int64_t argument : arguments) kernel.argument(argument);
  kernel.run(kPrograms);
  for (int64_t i = 0; i < 2 * kElements; ++i) {
    auto stored = expected.find(arrays.address(i));
    uint64_t bits =
        stored != expected.end()
            ? stored->second
            : TileEvaluator::untouched(ir::Type::number(DType::kInt32), arrays.address(i));
    ASSERT_EQ(arrays.at(i), ir::integer_of_bits(DType::kInt32, bits))
        << "element " << i << ", seed " << seed << "\n"
        << text << ir::print(*function);
  }
}

TEST(RandomKernels, compiled_code_stores_what_the_evaluator_stores) {
  size_t stored_elements = 0;
  for (uint32_t seed = 0; seed < kKernels; ++seed)
    ASSERT_NO_FATAL_FAILURE(check(seed, &stored_elements));
  EXPECT_GT(stored_elements, kKernels);  // the kernels are not all empty
}

}  // namespace
}  // namespace enceladus::cpu
