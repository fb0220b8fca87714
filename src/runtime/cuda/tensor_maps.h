// The tensor maps (TMA descriptors) of a kernel's launches: evaluates what the artifact says of
// each from the launch's parameters and encodes it, unless the values are those of a recent launch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cuda/context.h"
#include "support/artifact.h"

namespace enceladus::cuda {

// CUtensorMap: opaque to us.
struct alignas(64) EncodedMap {
  std::array<unsigned char, 128> bytes;
};

// The value of an expression over a launch's parameters. Throws DeviceFailure for a division by
// zero; checks nothing else, artifacts are ours.
int64_t evaluate(const LaunchExpression& expression, const std::vector<Parameter>& parameters,
                 std::span<const uint64_t> values);

class TensorMapCache {
 public:
  // `artifact` outlives the cache.
  explicit TensorMapCache(const Artifact& artifact) : artifact_(artifact) {}

  // Encoded maps, valid until the next call. One caller at a time. Throws DeviceFailure with the
  // values where the driver refuses them.
  std::span<EncodedMap> encode(const Context& context, std::span<const uint64_t> parameters);

 private:
  struct Entry {
    std::vector<int64_t> values;
    std::vector<EncodedMap> maps;
  };
  std::vector<int64_t> values_of(std::span<const uint64_t> parameters) const;
  std::vector<EncodedMap> encode_all(const Context& context, std::span<const int64_t> values) const;

  static constexpr size_t kEntries = 16;  // launches that rotate among buffers find theirs again
  const Artifact& artifact_;
  std::vector<Entry> entries_;
  size_t next_ = 0;
};

}  // namespace enceladus::cuda
