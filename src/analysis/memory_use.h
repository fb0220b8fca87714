// Which array parameters a kernel may read and write: for tuning (what to restore), for read-only
// arguments, for telling whether arrays that a launch passes overlap where it matters. Errs on the
// side of "may".
#pragma once

#include <vector>

#include "ir/ir.h"

namespace enceladus::analysis {

struct ParameterUse {
  bool is_read = false;
  bool is_written = false;
};

// One for each parameter of the function; scalars have neither.
std::vector<ParameterUse> parameter_uses(const ir::Function& function);

}  // namespace enceladus::analysis
