// Helper functions whose text does not depend on types. Not: which of them a kernel needs
// (prelude.h).
#pragma once

#include <span>
#include <string_view>

namespace enceladus::cuda {

struct Snippet {
  std::string_view name;  // without `enc_`
  std::string_view text;
};

// Ordered so that each stands behind what it calls.
std::span<const Snippet> snippets();
// Those of kernels with rings; behind the others.
std::span<const Snippet> async_snippets();

// Type names and reinterpretation; in every kernel.
std::string_view head_text();

}  // namespace enceladus::cuda
