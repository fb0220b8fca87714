// CUDA C++: what it calls things, its literals, float functions and conversions, its reserved
// words. float16 and bfloat16 are structures of the prelude that convert to and from float. Not:
// statements (emitter.h).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "codegen/common/dialect.h"
#include "codegen/cuda/prelude.h"

namespace enceladus::cuda {

class CudaDialect final : public codegen::Dialect {
 public:
  // `prelude` collects the helper functions that the text calls.
  explicit CudaDialect(Prelude& prelude) : prelude_(prelude) {}

  // Where each program that runs walks many of the grid, whose extents are the kernel's parameters.
  void walk_grid() { walks_grid_ = true; }

  std::string_view target() const override { return "cuda"; }
  std::string_view type_name(DType dtype) const override { return cuda::type_name(dtype); }
  std::string pointer_type(DType pointee, bool is_const) const override;
  std::string literal(DType dtype, uint64_t bits) const override;
  std::string program_position(ir::Opcode opcode, int64_t axis) const override;
  std::string float_operation(const ir::Operation& op, codegen::Operands operands,
                              ir::MathMode mode) override;
  std::string float_conversion(DType from, DType to, ir::Rounding rounding,
                               const std::string& value) override;
  std::string from_float8(DType from, const std::string& value) override;
  std::string to_float8(DType from, DType to, ir::Rounding rounding,
                        const std::string& value) override;
  std::string divide(DType dtype) override { return prelude_.divide(dtype); }
  std::string remainder(DType dtype) override { return prelude_.remainder(dtype); }
  std::string high_product(DType dtype) override;
  std::string shuffle_xor(const std::string& value, int64_t mask) const override;
  std::string shuffle(const std::string& value, const std::string& lane) const override;
  std::string warp_reduction(ir::CombineKind combine, const std::string& value) const override;

 private:
  std::string to_narrow_float(DType from, DType to, ir::Rounding rounding,
                              const std::string& value);

  Prelude& prelude_;
  bool walks_grid_ = false;
};

// Keywords, types, functions and variables that a kernel's names keep clear of.
std::span<const std::string_view> reserved_words();

}  // namespace enceladus::cuda
