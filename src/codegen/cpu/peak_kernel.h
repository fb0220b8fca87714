// A kernel that does nothing but float32 multiply-adds in registers: what the ceiling of
// `kernel.explain` is measured with. Not a kernel of the user's, and no IR is involved.
#pragma once

#include "codegen/cpu/host_target.h"
#include "support/artifact.h"

namespace enceladus::cpu {

// Each program takes a good tenth of a millisecond; `operations_per_program` counts them, a
// multiply-add as two. What it computed, which tends to the number of its accumulators, ends up as
// one vector behind the header of the worker's scratch. Has no parameters.
Artifact make_peak_kernel(const HostTarget& host);

}  // namespace enceladus::cpu
