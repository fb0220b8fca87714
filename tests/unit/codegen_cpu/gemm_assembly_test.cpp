// The inner loops of the micro-kernels as machine code, for processors that need not be the host's:
// the expected instructions, as many as there are accumulators, and nothing kept on the stack.
#include <gtest/gtest.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "codegen/cpu/gemm_micro.h"
#include "codegen/cpu/gemm_plan.h"
#include "codegen/cpu/object_code.h"
#include "gemm_call.h"

namespace enceladus::cpu {
namespace {

struct InnerLoop {
  std::map<std::string, int> instructions;
  int stack_uses = 0;
};

// The loops (a label up to a jump back to it) of the function `name`, in order.
std::vector<InnerLoop> loops_of(const std::string& assembly, const std::string& name) {
  std::istringstream lines(assembly);
  std::vector<std::string> body;
  std::map<std::string, size_t> labels;
  std::vector<InnerLoop> loops;
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ":")) is_inside = true;
    if (!is_inside) continue;
    if (line.starts_with(".Lfunc_end")) break;
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first.starts_with(".LBB")) labels[first.substr(0, first.find(':'))] = body.size();
    if (first.starts_with("j") && labels.contains(second)) {
      InnerLoop loop;
      for (size_t i = labels[second]; i < body.size(); ++i) {
        std::istringstream instruction(body[i]);
        std::string mnemonic;
        instruction >> mnemonic;
        ++loop.instructions[mnemonic];
        loop.stack_uses += body[i].find("(%rsp") != std::string::npos;
      }
      loops.push_back(loop);
    }
    body.push_back(line);
  }
  return loops;
}

struct Expectation {
  const char* cpu;
  DType operand, accumulator;
  const char* instruction;
  int rows, vectors;
};

class GemmAssembly : public testing::TestWithParam<Expectation> {};

TEST_P(GemmAssembly, inner_loop_multiplies_without_touching_the_stack) {
  if (host_target().architecture != Architecture::kX86) GTEST_SKIP() << "x86-64 instructions";
  const Expectation& expected = GetParam();
  const HostTarget target = target_of_cpu(expected.cpu);
  const GemmSpec spec{.a = expected.operand,
                      .b = expected.operand,
                      .accumulator = expected.accumulator,
                      .rows = 64,
                      .columns = 64};
  const GemmPlan plan = plan_gemm(target, spec);
  EXPECT_EQ(plan.block,
            (RegisterBlock{expected.rows, 64 / ((64 + expected.rows - 1) / expected.rows),
                           expected.vectors}));
  const std::string assembly = assembly_of(target, gemm_body(target, spec));
  for (int rows : {plan.block.rows, plan.block.lower_rows}) {
    const MicroKernel kernel{.format = plan.format, .rows = rows, .vectors = plan.block.vectors};
    const std::vector<InnerLoop> loops = loops_of(assembly, kernel.name());
    ASSERT_FALSE(loops.empty()) << kernel.name();
    const int products = rows * plan.block.vectors * plan.format.unroll;
    EXPECT_EQ(loops[0].instructions.at(expected.instruction), products) << kernel.name();
    EXPECT_EQ(loops[0].stack_uses, 0) << kernel.name();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Processors, GemmAssembly,
    testing::Values(
        Expectation{"znver4", DType::kFloat32, DType::kFloat32, "vfmadd231ps", 6, 4},
        Expectation{"znver4", DType::kFloat64, DType::kFloat64, "vfmadd231pd", 6, 4},
        Expectation{"znver4", DType::kFloat16, DType::kFloat32, "vfmadd231ps", 6, 4},
        Expectation{"znver4", DType::kBFloat16, DType::kFloat32, "vdpbf16ps", 6, 4},
        Expectation{"znver4", DType::kInt8, DType::kInt32, "vpdpbusd", 6, 4},
        Expectation{"znver4", DType::kUInt8, DType::kInt32, "vpdpbusd", 6, 4},
        Expectation{"znver4", DType::kInt16, DType::kInt32, "vpdpwssd", 6, 4},
        Expectation{"cooperlake", DType::kBFloat16, DType::kFloat32, "vfmadd231ps", 6, 4},
        Expectation{"skylake-avx512", DType::kBFloat16, DType::kFloat32, "vfmadd231ps", 6, 4},
        Expectation{"icelake-server", DType::kInt8, DType::kInt32, "vpdpbusd", 6, 4},
        Expectation{"skylake-avx512", DType::kInt8, DType::kInt32, "vpmaddwd", 6, 4},
        Expectation{"haswell", DType::kFloat32, DType::kFloat32, "vfmadd231ps", 6, 2},
        Expectation{"haswell", DType::kFloat64, DType::kFloat64, "vfmadd231pd", 6, 2},
        Expectation{"haswell", DType::kInt8, DType::kInt32, "vpmaddwd", 6, 2},
        Expectation{"haswell", DType::kInt32, DType::kInt32, "vpmulld", 5, 2},
        Expectation{"alderlake", DType::kInt8, DType::kInt32, "{vex}", 6, 2},
        Expectation{"x86-64", DType::kFloat32, DType::kFloat32, "mulps", 6, 2}),
    [](const auto& test) {
      std::string name = std::string(test.param.cpu) + "_" +
                         std::string(::enceladus::info(test.param.operand).text_name);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

int count(const std::string& text, const std::string& word) {
  int result = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++result;
  return result;
}

// The code of a kernel as compile_cpu.h makes it: short of passes, which AMX must do without.
std::string lean_assembly(const HostTarget& target, const GemmSpec& spec) {
  llvm::LLVMContext context;
  const auto module = make_module(context, target, gemm_body(target, spec));
  CodeGenerator generator(target);
  generator.prepare(*module);
  generator.optimize(*module);
  return generator.emit_assembly(*module);
}

class AmxAssembly : public testing::TestWithParam<std::tuple<DType, const char*>> {};

TEST_P(AmxAssembly, four_products_a_turn_and_tiles_set_up_outside_of_all_loops_over_k) {
  if (host_target().architecture != Architecture::kX86) GTEST_SKIP() << "x86-64 instructions";
  const auto [operand, instruction] = GetParam();
  const HostTarget target = target_of_cpu("sapphirerapids");
  const GemmSpec spec{.a = operand,
                      .b = operand,
                      .accumulator = is_float(operand) ? DType::kFloat32 : DType::kInt32,
                      .rows = 64,
                      .columns = 64,
                      .depth_multiple = 64};
  const GemmPlan plan = plan_gemm(target, spec);
  EXPECT_EQ(plan.block, (RegisterBlock{32, 32, 2}));
  const std::string assembly = lean_assembly(target, spec);
  const MicroKernel kernel{.format = plan.format, .rows = 32, .vectors = 2};
  const std::vector<InnerLoop> loops = loops_of(assembly, kernel.name());
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].instructions.at(instruction), 4);
  EXPECT_EQ(loops[0].instructions.at("tileloadd"), 4);
  EXPECT_EQ(loops[0].stack_uses, 0);
  EXPECT_EQ(count(assembly, "tilestored"), 4) << "no tile goes through memory but results";
  EXPECT_FALSE(loops[0].instructions.contains("ldtilecfg"));
  EXPECT_EQ(count(assembly, "ldtilecfg"), 3) << "once, and twice more around a partial block";
  EXPECT_EQ(count(assembly, "tilerelease"), 1);
}

INSTANTIATE_TEST_SUITE_P(Operands, AmxAssembly,
                         testing::Values(std::tuple(DType::kBFloat16, "tdpbf16ps"),
                                         std::tuple(DType::kInt8, "tdpbssd"),
                                         std::tuple(DType::kUInt8, "tdpbuud")),
                         [](const auto& test) {
                           return std::string(::enceladus::info(std::get<0>(test.param)).text_name);
                         });

}  // namespace
}  // namespace enceladus::cpu
