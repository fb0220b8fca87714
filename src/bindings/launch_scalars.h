// NumPy's scalar types as kernel arguments: their dtypes and bits, without NumPy's headers.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>

#include "support/dtype.h"

namespace enceladus {

struct ScalarBits {
  DType dtype;
  uint64_t bits;  // upper bytes zero
};

// The value of a NumPy or ml_dtypes scalar; nullopt for any other object, and for scalars of
// types that kernels do not have (complex, long double, strings).
std::optional<ScalarBits> numpy_scalar(PyObject* object);

uint64_t float32_bits(double value);
// Rounds to nearest even; exact for values that float16 or bfloat16 hold.
uint64_t float16_bits(double value);
uint64_t bfloat16_bits(double value);

}  // namespace enceladus
