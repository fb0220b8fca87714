// The helper functions behind matrix instructions: each takes a fragment's registers as elements,
// packs them into the words that PTX wants, and adds to the accumulator in place. Not: which
// fragments there are (target.h), nor loops over them.
#pragma once

#include <string>
#include <string_view>

#include "support/dtype.h"

namespace enceladus::cuda {

struct MatrixText {
  std::string name;  // `enc_mma_m16n8k16_f32_f16_f16`
  std::string text;
};
MatrixText matrix_text(std::string_view instruction, DType a, DType b, DType accumulator);

}  // namespace enceladus::cuda
