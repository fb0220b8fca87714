#include "support/diagnostics.h"

#include <gtest/gtest.h>

namespace enceladus {
namespace {

TEST(Diagnostics, renders_place_sentence_caret_and_hint) {
  Location location{intern_file("softmax.py"), 14, 5, 8};
  Diagnostic diagnostic = make_diagnostic(DiagnosticId::kNotAvailableOnTarget, location,
                                          {"float64", "metal", "use float32"});
  EXPECT_EQ(render(diagnostic, "    acc = 1"),
            "softmax.py:14:5: error: `float64` is not available on metal\n"
            "   14 |     acc = 1\n"
            "      |     ^^^\n"
            "  hint: use float32");
}

TEST(Diagnostics, equal_file_names_are_interned_once) {
  EXPECT_EQ(intern_file("a.py"), intern_file(std::string("a.") + "py"));
}

}  // namespace
}  // namespace enceladus
