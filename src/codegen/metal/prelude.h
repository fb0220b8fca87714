// Helper functions that a kernel's text may call, and the collection of those it does: only these
// are written, in a fixed order. They hold what the language lacks or leaves open: division by
// zero, saturating conversions, correctly rounded division, error function, NaN-propagating
// extrema.
#pragma once

#include <cstdint>
#include <string>

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
  kCount
};

class Prelude {
 public:
  // The name to call it by; it will be written.
  std::string use(Helper helper);
  // Integer division and remainder by run-time numbers, and saturating conversion from float.
  std::string divide(DType dtype);
  std::string remainder(DType dtype);
  std::string saturate(DType dtype);
  // An integer of more than 24 bits to bfloat, rounded once.
  std::string round_to_bfloat(DType from);

  std::string text() const;

 private:
  uint32_t used_ = 0;
  uint32_t divides_ = 0, remainders_ = 0, saturates_ = 0, rounds_ = 0;  // a bit a dtype
};

}  // namespace enceladus::metal
