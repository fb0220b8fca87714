// Kernels that MSL makes from templates. OpenCL has none, so the text is changed before clang sees
// it: for the entry that is wanted, the template becomes the kernel of that name, in its place and
// line by line the same, and every other template of a kernel is blanked out.
//
//   template <typename T, int N> kernel void scale(device T* x) { x[0] *= N; }
//   template [[host_name("scale_float_2")]] kernel void scale<float, 2>(device float*);
// gives for the entry `scale_float_2`
//                                kernel void scale_float_2(device float* x) { x[0] *= 2; }
//
// Instantiations that macros expand to are not seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace enceladus::simulator {

// The host names of explicit instantiations, in the order of the text.
std::vector<std::string> template_kernel_names(std::string_view msl);

// The text for one entry, which may be an ordinary kernel. `[[kernel]]` becomes `kernel`. Throws
// MslError for an instantiation whose template is missing or takes other arguments.
std::string with_template_kernel(std::string_view msl, std::string_view entry);

}  // namespace enceladus::simulator
