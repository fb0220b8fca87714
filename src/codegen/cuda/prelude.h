// The head of a kernel's text: type names, and those helper functions that the text calls, in a
// fixed order. They hold what C++ leaves open or what only PTX says: division by zero, saturating
// conversions, approximations with a stated error, vectors of memory, matrix instructions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "codegen/cuda/async_prelude.h"
#include "ir/opcode.h"
#include "support/dtype.h"

namespace enceladus::cuda {

// `schar` for int8: plain `char` has the sign of the host's.
std::string_view type_name(DType dtype);
std::string_view memory_type_name(DType dtype);

class Prelude {
 public:
  // The full name of a helper of snippets.cpp (`enc_exp2` for "exp2"); it will be written.
  std::string use(std::string_view helper);
  // Integer division and remainder by run-time numbers.
  std::string divide(DType dtype);
  std::string remainder(DType dtype);
  // Conversion of float32 or float64 to an integer.
  std::string saturate(DType from, DType to);
  // To the neighbouring float32 whose last bit is set unless the value is exact: rounding that to
  // a narrower float rounds once.
  std::string round_to_odd(DType from);
  // A float of 8 bits as a float, and back.
  std::string widen_float8(DType from);
  std::string narrow_float8(DType to, ir::Rounding rounding);
  // The same for two neighbouring registers: `to` is half or float; from float.
  std::string widen_float8_pair(DType from, DType to);
  std::string narrow_float8_pair(DType to);
  // Accesses of N neighbouring elements, by a hint of access_prelude.h.
  std::string load(std::string_view hint = {});
  std::string store(std::string_view hint = {});
  std::string atomic(ir::AtomicKind kind, DType dtype);
  std::string compare_and_swap(DType dtype);
  // A matrix instruction of PTX on registers of these types.
  std::string matrix(std::string_view instruction, DType a, DType b, DType accumulator);
  // A helper of async_prelude.h; its name.
  std::string add(AsyncText helper) {
    return add(std::move(helper.name), "", std::move(helper.text));
  }

  std::string text() const;

 private:
  std::string add(std::string name, std::string_view key, std::string text);

  std::set<std::string, std::less<>> snippets_;
  std::map<std::string, std::string, std::less<>> generated_;  // by a key that orders them
};

}  // namespace enceladus::cuda
