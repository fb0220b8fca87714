#include "runtime/cuda/messages.h"

#include <algorithm>
#include <array>

#include "runtime/common/failure.h"

namespace enceladus::cuda {

void Messages::add(CudaKernel& kernel) {
  const std::lock_guard lock(mutex_);
  const bool is_known = std::any_of(launched_.begin(), launched_.end(),
                                    [&](const auto& known) { return known.get() == &kernel; });
  if (!is_known) launched_.push_back(Ref<CudaKernel>::share(&kernel));
}

void Messages::raise() {
  std::vector<Ref<CudaKernel>> launched;
  {
    const std::lock_guard lock(mutex_);
    launched.swap(launched_);
  }
  const Artifact* failed = nullptr;
  std::array<uint32_t, 4> found{};
  for (const Ref<CudaKernel>& kernel : launched) {
    uint32_t* words = kernel->message_words();
    if (!failed && words[0] != 0) {
      failed = &kernel->artifact();
      std::copy_n(words, found.size(), found.begin());
    }
    std::fill_n(words, found.size(), 0);
  }
  if (!failed) return;
  throw LaunchFailure(FailureKind::kAssertion, failed->kernel, failed->messages.at(found[0] - 1),
                      {static_cast<int32_t>(found[1]), static_cast<int32_t>(found[2]),
                       static_cast<int32_t>(found[3])});
}

}  // namespace enceladus::cuda
