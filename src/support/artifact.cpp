#include "support/artifact.h"

#include <bit>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "support/hash.h"

namespace enceladus {
namespace {

// The file: magic, version, hash of the payload, payload. Everything is little-endian, as every
// host we run on is. Raise the version whenever a field of Artifact changes.
constexpr char kMagic[8] = {'E', 'N', 'C', 'K', 'E', 'R', 'N', '\n'};
constexpr uint32_t kVersion = 3;
constexpr size_t kHeaderBytes = sizeof(kMagic) + sizeof(uint32_t) + sizeof(uint64_t);
static_assert(std::endian::native == std::endian::little);

class Writer {
 public:
  template <typename T>
  void field(const T& value)
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void field(const std::string& value) {
    field(static_cast<uint64_t>(value.size()));
    bytes_ += value;
  }
  void field(const std::pair<std::string, std::string>& value) {
    field(value.first);
    field(value.second);
  }
  void field(const Parameter& value);
  void field(const LaunchStep& value);
  void field(const TensorMap& value);
  void field(const std::array<int32_t, 3>& value) {
    for (int32_t element : value) field(element);
  }
  template <typename T>
  void field(const std::vector<T>& values) {
    field(static_cast<uint64_t>(values.size()));
    for (const T& value : values) field(value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  void field(T& value)
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  {
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
  }
  void field(std::string& value) {
    uint64_t size = 0;
    field(size);
    value = take(size);
  }
  void field(std::pair<std::string, std::string>& value) {
    field(value.first);
    field(value.second);
  }
  void field(Parameter& value);
  void field(LaunchStep& value);
  void field(TensorMap& value);
  void field(std::array<int32_t, 3>& value) {
    for (int32_t& element : value) field(element);
  }
  template <typename T>
  void field(std::vector<T>& values) {
    uint64_t size = 0;
    field(size);
    // An element takes a byte at least, so that a damaged count cannot ask for much memory.
    if (size > bytes_.size()) throw std::runtime_error("the compiled kernel is truncated");
    values.resize(size);
    for (T& value : values) field(value);
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view take(uint64_t size) {
    if (size > bytes_.size()) throw std::runtime_error("the compiled kernel is truncated");
    std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
};

// The one list of fields, for both directions.
template <typename Archive, typename ParameterType>
void visit_parameter(Archive& archive, ParameterType& parameter) {
  archive.field(parameter.name);
  archive.field(parameter.dtype);
  archive.field(parameter.is_pointer);
  archive.field(parameter.is_read);
  archive.field(parameter.is_written);
  archive.field(parameter.slot);
}

template <typename Archive, typename StepType>
void visit_step(Archive& archive, StepType& step) {
  archive.field(step.kind);
  archive.field(step.value);
}

template <typename Archive, typename MapType>
void visit_tensor_map(Archive& archive, MapType& map) {
  archive.field(map.address);
  archive.field(map.shape);
  archive.field(map.strides);
  archive.field(map.box);
  archive.field(map.element);
  archive.field(map.swizzle);
  archive.field(map.promotion);
}

template <typename Archive, typename ArtifactType>
void visit_artifact(Archive& archive, ArtifactType& artifact) {
  archive.field(artifact.target);
  archive.field(artifact.kernel);
  archive.field(artifact.entry);
  archive.field(artifact.binary);
  archive.field(artifact.stages);
  archive.field(artifact.parameters);
  archive.field(artifact.scratch_bytes);
  archive.field(artifact.shared_bytes);
  archive.field(artifact.num_warps);
  archive.field(artifact.registers);
  archive.field(artifact.spills);
  archive.field(artifact.bytes_per_program);
  archive.field(artifact.operations_per_program);
  archive.field(artifact.walk);
  archive.field(artifact.walk_shares_columns);
  archive.field(artifact.needs_extents);
  archive.field(artifact.may_not_end);
  archive.field(artifact.language_version);
  archive.field(artifact.math_mode);
  archive.field(artifact.logs);
  archive.field(artifact.threads);
  archive.field(artifact.is_persistent);
  archive.field(artifact.tensor_maps);
  archive.field(artifact.warnings);
  archive.field(artifact.messages);
  archive.field(artifact.explain);
}

void Writer::field(const Parameter& value) { visit_parameter(*this, value); }
void Reader::field(Parameter& value) { visit_parameter(*this, value); }
void Writer::field(const LaunchStep& value) { visit_step(*this, value); }
void Reader::field(LaunchStep& value) { visit_step(*this, value); }
void Writer::field(const TensorMap& value) { visit_tensor_map(*this, value); }
void Reader::field(TensorMap& value) { visit_tensor_map(*this, value); }

}  // namespace

std::string serialize(const Artifact& artifact) {
  Writer payload;
  visit_artifact(payload, artifact);
  Writer header;
  header.field(kVersion);
  header.field(hash_bytes(payload.bytes().data(), payload.bytes().size()));
  return std::string(kMagic, sizeof(kMagic)) + header.bytes() + payload.bytes();
}

Artifact deserialize(const std::string& bytes) {
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0)
    throw std::runtime_error("this is no compiled kernel");
  Reader header(std::string_view(bytes).substr(sizeof(kMagic)));
  uint32_t version = 0;
  uint64_t hash = 0;
  header.field(version);
  header.field(hash);
  if (version != kVersion)
    throw std::runtime_error("the compiled kernel is of version " + std::to_string(version) +
                             ", not " + std::to_string(kVersion));
  std::string_view payload = std::string_view(bytes).substr(kHeaderBytes);
  if (hash_bytes(payload.data(), payload.size()) != hash)
    throw std::runtime_error("the compiled kernel is damaged: its checksum does not match");
  Artifact artifact;
  Reader reader(payload);
  visit_artifact(reader, artifact);
  if (!reader.at_end()) throw std::runtime_error("the compiled kernel has bytes left over");
  return artifact;
}

}  // namespace enceladus
