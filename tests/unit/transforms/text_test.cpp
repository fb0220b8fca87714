// Runs the text tests of tests/text: each `.enc` file names passes in its first line, holds a
// kernel and, behind a line `// ---- after`, what the passes make of it.
//   // passes: fold dce
// ENCELADUS_BLESS=1 writes what comes out in place of the expectation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "transforms/tile_passes.h"

namespace enceladus::transforms {
namespace {

constexpr std::string_view kPasses = "// passes:";
constexpr std::string_view kAfter = "// ---- after\n";

std::vector<std::filesystem::path> text_tests() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ENCELADUS_TEXT_TESTS))
    if (entry.path().extension() == ".enc") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void run_pass(ir::Function& function, const std::string& name) {
  if (name == "optimize") return optimize(function);
  const TilePass* pass = find_tile_pass(name);
  ASSERT_NE(pass, nullptr) << "no pass is named " << name;
  pass->run(function);
}

std::string transformed(const std::string& text) {
  std::unique_ptr<ir::Function> function = ir::parse(text);
  EXPECT_EQ(ir::verify(*function), std::vector<std::string>());
  std::istringstream passes(text.substr(kPasses.size(), text.find('\n') - kPasses.size()));
  for (std::string name; passes >> name;) {
    run_pass(*function, name);
    EXPECT_EQ(ir::verify(*function), std::vector<std::string>()) << "after " << name;
  }
  return ir::print(*function);
}

class TextTest : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(TextTest, passes_give_what_stands_beside) {
  std::string text = read(GetParam());
  ASSERT_TRUE(text.starts_with(kPasses)) << "the first line names no passes";
  size_t end = std::min(text.find(kAfter), text.size());
  std::string input = text.substr(0, end);
  std::string result = transformed(input);
  if (std::getenv("ENCELADUS_BLESS")) {
    std::ofstream(GetParam()) << input << kAfter << result;
    return;
  }
  ASSERT_LT(end, text.size()) << "there is no expectation; ENCELADUS_BLESS=1 writes it";
  EXPECT_EQ(result, text.substr(end + kAfter.size()));
}

INSTANTIATE_TEST_SUITE_P(All, TextTest, ::testing::ValuesIn(text_tests()), [](const auto& info) {
  std::string name = info.param.stem().string();
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace enceladus::transforms
