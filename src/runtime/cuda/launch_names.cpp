#include "runtime/cuda/launch_names.h"

#include <algorithm>

namespace enceladus::cuda {

std::string LaunchNames::text() const {
  std::vector<std::string> different;
  for (const std::string* name : names_)
    if (std::find(different.begin(), different.end(), *name) == different.end())
      different.push_back(*name);
  if (different.empty()) return {};
  if (different.size() == 1) return "kernel `" + different.front() + "`";
  std::string text = "one of the kernels";
  for (size_t i = 0; i < different.size(); ++i) text += (i ? ", `" : " `") + different[i] + "`";
  return text + " (CUDA_LAUNCH_BLOCKING=1 tells which)";
}

}  // namespace enceladus::cuda
