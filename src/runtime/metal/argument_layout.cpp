#include "runtime/metal/argument_layout.h"

#include <algorithm>
#include <cstring>

#include "runtime/common/failure.h"

namespace enceladus::metal {
namespace {

void append(ScalarBlock& block, uint32_t parameter, uint32_t bytes) {
  const uint32_t offset = (block.bytes + bytes - 1) / bytes * bytes;
  block.fields.push_back({parameter, offset, bytes});
  block.bytes = offset + bytes;
}

// A struct is as long as a multiple of its widest field.
void finish(ScalarBlock& block) {
  uint32_t alignment = 1;
  for (const ScalarBlock::Field& field : block.fields) alignment = std::max(alignment, field.bytes);
  block.bytes = (block.bytes + alignment - 1) / alignment * alignment;
}

ArgumentLayout declared_layout(const Artifact& artifact) {
  ArgumentLayout layout;
  for (uint32_t i = 0; i < artifact.parameters.size(); ++i) {
    const Parameter& parameter = artifact.parameters[i];
    const auto index = static_cast<uint32_t>(parameter.slot);
    if (parameter.is_pointer) {
      layout.pointers.push_back({i, index});
      continue;
    }
    ScalarBlock& block = layout.scalars.emplace_back();
    block.index = index;
    append(block, i, static_cast<uint32_t>(byte_size(parameter.dtype)));
  }
  return layout;
}

ArgumentLayout compiled_layout(const Artifact& artifact) {
  ArgumentLayout layout;
  ScalarBlock block;
  for (uint32_t i = 0; i < artifact.parameters.size(); ++i) {
    const Parameter& parameter = artifact.parameters[i];
    if (parameter.is_pointer)
      layout.pointers.push_back({i, static_cast<uint32_t>(layout.pointers.size())});
    else
      append(block, i, static_cast<uint32_t>(byte_size(parameter.dtype)));
  }
  auto next = static_cast<uint32_t>(layout.pointers.size());
  if (!block.fields.empty()) {
    finish(block);
    block.index = next++;
    layout.scalars.push_back(std::move(block));
  }
  if (!artifact.messages.empty()) layout.failure_index = static_cast<int32_t>(next++);
  return layout;
}

}  // namespace

ArgumentLayout layout_arguments(const Artifact& artifact) {
  const bool is_declared = !artifact.parameters.empty() && artifact.parameters[0].slot >= 0;
  ArgumentLayout layout = is_declared ? declared_layout(artifact) : compiled_layout(artifact);
  const size_t buffers =
      layout.pointers.size() + layout.scalars.size() + (layout.failure_index >= 0 ? 1 : 0);
  if (buffers > kMostBuffers)
    throw DeviceFailure("metal", "kernel `" + artifact.kernel + "` takes " +
                                     std::to_string(buffers) + " buffers, but Metal has " +
                                     std::to_string(kMostBuffers));
  for (const ScalarBlock& block : layout.scalars)
    if (block.bytes > kMostScalarBytes)
      throw DeviceFailure("metal", "kernel `" + artifact.kernel + "` takes " +
                                       std::to_string(block.bytes) +
                                       " bytes of scalars, but Metal passes at most " +
                                       std::to_string(kMostScalarBytes));
  return layout;
}

void pack_scalars(const ScalarBlock& block, const uint64_t* slots, char* to) {
  std::memset(to, 0, block.bytes);
  for (const ScalarBlock::Field& field : block.fields)
    std::memcpy(to + field.offset, &slots[field.parameter], field.bytes);
}

}  // namespace enceladus::metal
