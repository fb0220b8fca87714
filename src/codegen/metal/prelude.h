// Helper functions that a kernel's text may call, and the collection of those it does: only these
// are written, in a fixed order. They hold what the language lacks or leaves open: division by
// zero, saturating conversions, correctly rounded division, error function, NaN-propagating
// extrema.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "ir/opcode.h"
#include "support/dtype.h"

namespace enceladus::metal {

enum class Helper : uint8_t {
  kDivRn,
  kSqrtRn,
  kErf,
  kMinNan,
  kMaxNan,
  kHalfTowardZero,
  kBFloatTowardZero,
  kFragment,
  kFail,
  kCount
};

class Prelude {
 public:
  // The name to call it by; it will be written.
  std::string use(Helper helper);
  bool uses(Helper helper) const { return used_ >> static_cast<int>(helper) & 1; }
  // Whether the kernel writes lines.
  void set_logs() { logs_ = true; }
  bool logs() const { return logs_; }
  // Whether it multiplies by Metal Performance Primitives.
  void set_matmul2d() { matmul2d_ = true; }
  bool matmul2d() const { return matmul2d_; }
  // Integer division and remainder by run-time numbers, and saturating conversion from float.
  std::string divide(DType dtype);
  std::string remainder(DType dtype);
  std::string saturate(DType dtype);
  // An integer of more than 24 bits to bfloat, rounded once.
  std::string round_to_bfloat(DType from);

  // A float of 8 bits as a float, and back.
  std::string widen_float8(DType from);
  std::string narrow_float8(DType to, ir::Rounding rounding);

  std::string atomic(ir::AtomicKind kind, DType dtype);
  std::string compare_and_swap(DType dtype);

  std::string text() const;

 private:
  uint32_t used_ = 0;
  bool logs_ = false;
  bool matmul2d_ = false;
  uint32_t divides_ = 0, remainders_ = 0, saturates_ = 0, rounds_ = 0, swaps_ = 0;  // a bit a dtype
  uint32_t widens_ = 0;                                                             // a bit a dtype
  std::array<uint32_t, 2> narrows_{};                                               // by rounding
  std::array<uint32_t, 7> atomics_{};                                               // by kind
};

}  // namespace enceladus::metal
