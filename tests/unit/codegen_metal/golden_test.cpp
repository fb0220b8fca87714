// Goldens of emitted text: each tests/golden/metal/NAME.enc holds a kernel's tile IR, NAME.metal
// what becomes of it after the tile passes. Few, one idea each; numbers come from running.
// ENCELADUS_BLESS=1 writes what comes out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/metal/compile_metal.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "transforms/tile_passes.h"

namespace enceladus::metal {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> goldens() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(ENCELADUS_METAL_GOLDENS))
    if (entry.path().extension() == ".enc") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class GoldenTest : public testing::TestWithParam<fs::path> {};

TEST_P(GoldenTest, text_is_what_stands_beside) {
  std::unique_ptr<ir::Function> tile = ir::parse(read(GetParam()));
  ASSERT_EQ(ir::verify(*tile), std::vector<std::string>());
  transforms::optimize(*tile);
  MetalOptions options;
  options.after_pass = [](const ir::Function& function, std::string_view pass) {
    EXPECT_EQ(ir::verify(function), std::vector<std::string>()) << "after " << pass << "\n"
                                                                << ir::print(function);
  };
  Artifact artifact = compile_metal(*tile, options);
  const std::string& text = artifact.stages.back().second;
  fs::path expected = GetParam();
  expected.replace_extension(".metal");
  if (std::getenv("ENCELADUS_BLESS")) std::ofstream(expected) << text;
  EXPECT_EQ(text, read(expected)) << artifact.stages.front().second;
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTest, testing::ValuesIn(goldens()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace enceladus::metal
