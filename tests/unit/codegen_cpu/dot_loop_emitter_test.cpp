// A whole matrix product, program by program, from the IR of its K loop.
#include "codegen/cpu/dot_loop_emitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ir/parser.h"
#include "jit_function.h"
#include "transforms/tile_passes.h"

namespace enceladus::cpu {
namespace {

// Rows begin `shift` before the program's own, so that the first program's are partly negative.
const char* const kMatmul =
    R"(kernel @matmul(%a: ptr<f32>, %b: ptr<f32>, %M: i32, %N: i32, %K: i32, %KB: i32, %shift: i32) {num_warps = 4, math_mode = relaxed} {
  %one = constant 1 : i32
  %zero = constant 0 : i32
  %BK = constant 16 : i32
  %BM = constant 16 : i32
  %BN = constant 32 : i32
  %pid_m = program_id {axis = 0} : i32
  %pid_n = program_id {axis = 1} : i32
  %a_desc = make_descriptor %a, %M, %K, %K, %one : desc<16x16xf32>
  %b_desc = make_descriptor %b, %KB, %N, %N, %one : desc<16x32xf32>
  %own = mul %pid_m, %BM : i32
  %row = sub %own, %shift : i32
  %column = mul %pid_n, %BN : i32
  %zeros = constant 0.0 : tile<16x32xf32>
  %acc = for %k = %zero to %K step %BK carry (%sum = %zeros) : (tile<16x32xf32>) {
    %x = descriptor_load %a_desc, %row, %k : tile<16x16xf32>
    %y = descriptor_load %b_desc, %k, %column : tile<16x32xf32>
    %next = dot %x, %y, %sum : tile<16x16xf32>, tile<16x32xf32>, tile<16x32xf32> -> tile<16x32xf32>
    yield %next
  }
  %c_desc = make_descriptor %a, %M, %N, %N, %one : desc<16x32xf32>
  descriptor_store %c_desc, %acc, %zero, %zero : desc<16x32xf32>, tile<16x32xf32>
}
)";

struct Program {  // the kernel's scalars in order, its program ids, and where it writes
  const float *a, *b;
  int64_t m, n, k, kb, shift, pid_m, pid_n;
  float* tile;
  void* scratch;
  int64_t generation;
};

struct Kernel {
  explicit Kernel(PackedOperand packed_b) : function(parsed()), facts(*function) {
    analysis::AffineForms forms(*function, analysis::AffineForms::Meaning::kExact);
    ir::walk(function->body(), [&](ir::Operation* op) {
      if (op->is(ir::Opcode::kFor)) plan = *loop::match_dot_loop(op, forms, facts).plan;
    });
    spec = gemm_of(plan, facts, packed_b);
    run = std::make_unique<JitFunction>(
        [this](llvm::IRBuilder<>& builder, llvm::Value* program) { emit(builder, program); });
  }

  static std::unique_ptr<ir::Function> parsed() {
    std::unique_ptr<ir::Function> function = ir::parse(kMatmul);
    transforms::optimize(*function);
    return function;
  }

  void emit(llvm::IRBuilder<>& builder, llvm::Value* program) {
    auto slot = [&](int index, llvm::Type* type) -> llvm::Value* {
      return builder.CreateLoad(type,
                                builder.CreateConstGEP1_64(builder.getInt64Ty(), program, index));
    };
    auto scalar = [&](const ir::Value* value) -> llvm::Value* {
      const int parameter = function->parameter_index(value);
      if (parameter >= 0 && value->type().is_pointer()) return slot(parameter, builder.getPtrTy());
      if (parameter >= 0) return slot(parameter, builder.getInt32Ty());
      EXPECT_TRUE(value->definition()->is(ir::Opcode::kProgramId));
      const int64_t axis = value->definition()->integer(ir::AttributeName::kAxis);
      return slot(7 + static_cast<int>(axis), builder.getInt32Ty());
    };
    emit_dot_loop(builder, host_target(), spec, plan,
                  {.tile = slot(9, builder.getPtrTy()),
                   .scratch = slot(10, builder.getPtrTy()),
                   .generation = slot(11, builder.getInt64Ty())},
                  scalar);
  }

  std::unique_ptr<ir::Function> function;
  analysis::Facts facts;
  loop::DotLoop plan;
  GemmSpec spec;
  std::unique_ptr<JitFunction> run;
};

struct Shape {
  int64_t m, n, k, kb, shift;
};

// Runs every program and compares each element of its tile.
void check(const Kernel& kernel, const Shape& shape) {
  std::vector<float> a(static_cast<size_t>(shape.m * shape.k));
  std::vector<float> b(static_cast<size_t>(shape.kb * shape.n));
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 13) - 6;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 5 % 11) - 5;
  std::vector<char> tile(static_cast<size_t>(gemm_tile_bytes(host_target(), kernel.spec)));
  std::vector<char> scratch(static_cast<size_t>(gemm_scratch_bytes(host_target(), kernel.spec)) +
                            64);
  void* aligned =
      reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  const int64_t stride = gemm_row_stride(host_target(), kernel.spec) / 4;
  auto* c = reinterpret_cast<float*>(tile.data());
  auto expected = [&](int64_t row, int64_t column) {
    float sum = 0;
    if (row >= 0 && row < shape.m && column < shape.n)
      for (int64_t k = 0; k < std::min(shape.k, shape.kb); ++k)
        sum += a[static_cast<size_t>(row * shape.k + k)] *
               b[static_cast<size_t>(k * shape.n + column)];
    return sum;
  };
  for (int64_t pid_n = 0; pid_n * 32 < shape.n; ++pid_n)
    for (int64_t pid_m = 0; pid_m * 16 - shape.shift < shape.m; ++pid_m) {
      const Program program{a.data(),    b.data(), shape.m, shape.n, shape.k, shape.kb,
                            shape.shift, pid_m,    pid_n,   c,       aligned, 3};
      (*kernel.run)(&program);
      for (int64_t i = 0; i < 16; ++i)
        for (int64_t j = 0; j < 32; ++j)
          ASSERT_EQ(c[i * stride + j], expected(pid_m * 16 - shape.shift + i, pid_n * 32 + j))
              << "program " << pid_m << ", " << pid_n << " at " << i << ", " << j;
    }
}

class DotLoopEmitter : public testing::TestWithParam<PackedOperand> {};

TEST_P(DotLoopEmitter, programs_cover_the_product_at_every_edge) {
  const Kernel kernel(GetParam());
  check(kernel, {.m = 48, .n = 64, .k = 64, .kb = 64, .shift = 0});
  check(kernel, {.m = 37, .n = 45, .k = 50, .kb = 50, .shift = 0});
  check(kernel, {.m = 1, .n = 1, .k = 1, .kb = 1, .shift = 0});
}

TEST_P(DotLoopEmitter, rows_before_the_array_are_zero) {
  check(Kernel(GetParam()), {.m = 30, .n = 40, .k = 33, .kb = 33, .shift = 5});
}

TEST_P(DotLoopEmitter, the_shorter_operand_counts_as_zero_behind_its_end) {
  const Kernel kernel(GetParam());
  check(kernel, {.m = 20, .n = 40, .k = 40, .kb = 27, .shift = 0});
  check(kernel, {.m = 20, .n = 40, .k = 27, .kb = 40, .shift = 0});
}

INSTANTIATE_TEST_SUITE_P(PackedB, DotLoopEmitter,
                         testing::Values(PackedOperand::kTemporary, PackedOperand::kKept),
                         [](const auto& test) {
                           return test.param == PackedOperand::kKept ? "kept" : "temporary";
                         });

}  // namespace
}  // namespace enceladus::cpu
