#include "runtime/metal/source_error.h"

#include <gtest/gtest.h>

namespace enceladus::metal {
namespace {

const std::string kSource =
    "#include <metal_stdlib>\n"
    "kernel void add(device float* x [[buffer(0)]]) {\n"
    "  // add.py:7\n"
    "  float a = x[0];\n"
    "  x[1] = b;\n"
    "}\n";

TEST(SourceError, a_message_gets_its_line_and_the_kernels) {
  EXPECT_EQ(explain_source_error("program_source:5:10: error: undeclared identifier 'b'", kSource),
            "MSL:5:10: error: undeclared identifier 'b' (from add.py:7)\n    | x[1] = b;");
}

TEST(SourceError, lines_above_the_body_come_from_no_kernel_line) {
  EXPECT_EQ(explain_source_error("program_source:2:1: error: no", kSource),
            "MSL:2:1: error: no\n    | kernel void add(device float* x [[buffer(0)]]) {");
}

TEST(SourceError, what_has_no_place_stays_as_it_is) {
  EXPECT_EQ(explain_source_error("Compilation failed:\n\nprogram_source:99:1: error: x", kSource),
            "Compilation failed:\n\nprogram_source:99:1: error: x");
}

}  // namespace
}  // namespace enceladus::metal
