#include "codegen/cpu/load.h"

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "codegen/cpu/host_target.h"
#include "codegen/cpu/object_code.h"

namespace enceladus::cpu {
namespace {

std::string object_of(const std::string& text, CodeGenerator& generator) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parse_module(text, context);
  generator.prepare(*module);
  generator.optimize(*module);
  return generator.emit_object(*module);
}

std::string object_of(const std::string& text) {
  CodeGenerator generator(host_target());
  return object_of(text, generator);
}

// Stores f(0.5) of libm and of SLEEF, a constant from a data section, and `first`.
const char* const kText = R"(
@table = private constant [4 x double] [double 1.0, double 2.0, double 3.0, double 4.0]
declare double @sin(double)
declare double @Sleef_cos_u10(double)
define void @run(ptr %launch, i64 %first, i64 %last, ptr %scratch) {
  %half = load double, ptr %scratch
  %s = call double @sin(double %half)
  store double %s, ptr %scratch
  %c = call double @Sleef_cos_u10(double %half)
  %p1 = getelementptr double, ptr %scratch, i64 1
  store double %c, ptr %p1
  %place = getelementptr [4 x double], ptr @table, i64 0, i64 %first
  %t = load double, ptr %place
  %p2 = getelementptr double, ptr %scratch, i64 2
  store double %t, ptr %p2
  ret void
}
)";

TEST(Load, code_reaches_libm_sleef_and_its_own_constants) {
  CodeImage image = load_object(object_of(kText), "run");
  double scratch[3] = {0.5, 0, 0};
  image.entry(nullptr, 2, 3, scratch);
  EXPECT_DOUBLE_EQ(scratch[0], std::sin(0.5));
  EXPECT_NEAR(scratch[1], std::cos(0.5), 1e-15);
  EXPECT_EQ(scratch[2], 3.0);
}

// A large mapping and, above everything, a gap of one page: a loader that maps sections one by one
// puts the first into the gap and the next below the mapping, farther than code can reach.
class Gap {
 public:
  Gap() : large_(map(kLarge)) {
    // Whatever is free above goes first, as the system takes the highest place that will do.
    do fillers_.push_back(map(page()));
    while (fillers_.back() > large_);
    munmap(fillers_.front(), page());
  }
  ~Gap() {
    munmap(large_, kLarge);
    for (size_t i = 1; i < fillers_.size(); ++i) munmap(fillers_[i], page());
  }
  Gap(const Gap&) = delete;
  Gap& operator=(const Gap&) = delete;

 private:
  static constexpr size_t kLarge = size_t{3} << 30;
  static size_t page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  static char* map(size_t bytes) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* mapped = mmap(nullptr, bytes, PROT_NONE, kFlags, -1, 0);
    return mapped == MAP_FAILED ? throw std::bad_alloc() : static_cast<char*>(mapped);
  }

  char* large_;
  std::vector<char*> fillers_;
};

TEST(Load, constants_are_within_reach_whatever_is_mapped_between) {
  const std::string object = object_of(kText);
  std::vector<std::unique_ptr<Gap>> gaps;
  std::vector<CodeImage> images;
  for (int round = 0; round < 4; ++round) {
    gaps.push_back(std::make_unique<Gap>());
    images.push_back(load_object(object, "run"));
    double scratch[3] = {0.5, 0, 0};
    images.back().entry(nullptr, 2, 3, scratch);
    ASSERT_EQ(scratch[2], 3.0);
  }
}

TEST(Load, a_generator_gives_the_same_code_whatever_it_made_before) {
  const std::string other =
      "define void @other() \"" + std::string(kHasProducts) + "\" { ret void }";
  const std::string expected = object_of(kText), expected_other = object_of(other);
  CodeGenerator generator(host_target());
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(object_of(kText, generator), expected);
    EXPECT_EQ(object_of(other, generator), expected_other);
  }
}

TEST(Load, what_cannot_be_loaded_is_an_error) {
  EXPECT_THROW(load_object("not an object", "run"), std::runtime_error);
  std::string object = object_of(kText);
  EXPECT_THROW(load_object(object, "walk"), std::runtime_error);
  EXPECT_THROW(load_object(object.substr(0, object.size() / 2), "run"), std::runtime_error);
  std::string unknown = object_of(
      "declare void @no_such_function()\n"
      "define void @run(ptr %l, i64 %f, i64 %e, ptr %s) {\n"
      "  call void @no_such_function()\n  ret void\n}\n");
  EXPECT_THROW(load_object(unknown, "run"), std::runtime_error);
}

TEST(ObjectCode, a_mistake_in_the_text_names_its_line) {
  llvm::LLVMContext context;
  try {
    parse_module("define void @run() {\n  frobnicate\n}\n", context);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("LLVM IR:2:"), std::string::npos) << error.what();
  }
}

TEST(ObjectCode, assembly_is_made_from_the_kept_text) {
  EXPECT_NE(assembly_of_text(kText).find("run:"), std::string::npos);
}

}  // namespace
}  // namespace enceladus::cpu
