#include "runtime/cuda/messages.h"

#include "runtime/common/failure.h"

namespace enceladus::cuda {
namespace {

constexpr size_t kWords = 4;  // 1 + index of the message, then the program

}  // namespace

DevicePointer Messages::prepare(const Artifact& artifact, StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  for (const Pending& known : pending_)
    if (known.kernel == artifact.kernel && known.texts == artifact.messages) return known.buffer;
  const DevicePointer buffer = pool_.allocate(kWords * sizeof(uint32_t));
  const Context& context = pool_.context();
  context.check(context.driver().set_words(buffer, 0, kWords, stream), "cuMemsetD32Async",
                artifact.kernel);
  pending_.push_back({buffer, artifact.kernel, artifact.messages});
  return buffer;
}

void Messages::raise() {
  std::vector<Pending> pending;
  {
    const std::lock_guard lock(mutex_);
    pending.swap(pending_);
  }
  const Pending* failed = nullptr;
  std::array<uint32_t, kWords> found{};
  for (const Pending& known : pending) {
    std::array<uint32_t, kWords> words{};
    if (!failed) staging_.download(words.data(), known.buffer, sizeof(words));
    pool_.free(known.buffer);
    if (failed || words[0] == 0) continue;
    failed = &known;
    found = words;
  }
  if (!failed) return;
  throw LaunchFailure(FailureKind::kAssertion, failed->kernel, failed->texts.at(found[0] - 1),
                      {static_cast<int32_t>(found[1]), static_cast<int32_t>(found[2]),
                       static_cast<int32_t>(found[3])});
}

}  // namespace enceladus::cuda
