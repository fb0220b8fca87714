// Kernel: a compiled artifact that a device can launch. Each target adds how.
#pragma once

#include <utility>

#include "runtime/common/resource.h"
#include "support/artifact.h"

namespace enceladus {

class Kernel : public Resource {
 public:
  explicit Kernel(Artifact artifact) : artifact_(std::move(artifact)) {}
  const Artifact& artifact() const { return artifact_; }

 private:
  Artifact artifact_;
};

}  // namespace enceladus
