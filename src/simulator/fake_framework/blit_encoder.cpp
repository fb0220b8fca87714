#include "simulator/fake_framework/blit_encoder.h"

#include <cstring>

namespace enceladus::fake_metal {
namespace {

constexpr uint64_t kAlignment = 4;  // of offsets and sizes of fills and copies

void check_range(const Buffer& buffer, uint64_t offset, uint64_t bytes) {
  if (offset % kAlignment != 0 || bytes % kAlignment != 0) {
    throw ContractViolation("offset " + std::to_string(offset) + " and size " +
                            std::to_string(bytes) + " must be multiples of 4");
  }
  if (bytes == 0 || offset > buffer.bytes() || bytes > buffer.bytes() - offset) {
    throw ContractViolation(std::to_string(bytes) + " bytes from " + std::to_string(offset) +
                            " on of a buffer of " + std::to_string(buffer.bytes()));
  }
}

// The memory that a command uses: its buffer is retained by the command if `retains`.
struct Range {
  Object* buffer;
  Ref<Buffer> retained;
  uint64_t offset;

  Range(Buffer& its_buffer, uint64_t its_offset, bool retains)
      : buffer(its_buffer.self()), offset(its_offset) {
    if (retains) retained = Ref<Buffer>(&its_buffer);
  }
  // Null after the buffer was released.
  std::byte* data() const {
    Buffer* body = body_of<Buffer>(buffer);
    return body == nullptr ? nullptr : body->data() + offset;
  }
};

CommandFailure released() {
  std::string text = "a buffer was released before a blit command used it";
  Ledger::get().note_violation(text);
  return {CommandError::kInvalidResource, text};
}

}  // namespace

const Class& BlitEncoder::type() {
  constexpr Failure kFails = Failure::kCommandBuffer;
  static constexpr Method kMethods[] = {
      method<&BlitEncoder::fill>("fillBuffer:range:value:", kFails),
      method<&BlitEncoder::copy>("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:",
                                 kFails),
      method<&BlitEncoder::set_label>("setLabel:"),
      method<&BlitEncoder::end_encoding>("endEncoding", kFails),
  };
  static const Class& type =
      *new Class({.name = "MTLBlitCommandEncoder", .methods = kMethods, .is_protocol = true});
  return type;
}

BlitEncoder::~BlitEncoder() {
  if (!is_open_) return;
  std::string text = "a MTLBlitCommandEncoder was released without endEncoding";
  Ledger::get().note_violation(text);
  buffer_->fail(text);
  buffer_->end_encoder();
}

void BlitEncoder::require_open() const {
  if (!is_open_) throw ContractViolation("the encoder has ended");
}

Result BlitEncoder::fill(const Message& message) {
  require_open();
  auto& buffer = argument<Buffer>(message, 0);
  uint64_t offset = message.integer(1), bytes = message.integer(2);
  int value = static_cast<int>(message.integer(3) & 0xff);  // the rest of the register is anything
  check_range(buffer, offset, bytes);
  Range to(buffer, offset, buffer_->retains());
  buffer_->add([to, bytes, value](CommandRun&) -> std::optional<CommandFailure> {
    if (to.data() == nullptr) return released();
    std::memset(to.data(), value, bytes);
    return std::nullopt;
  });
  return kNothing;
}

Result BlitEncoder::copy(const Message& message) {
  require_open();
  auto& source = argument<Buffer>(message, 0);
  auto& destination = argument<Buffer>(message, 2);
  uint64_t bytes = message.integer(4);
  check_range(source, message.integer(1), bytes);
  check_range(destination, message.integer(3), bytes);
  Range from(source, message.integer(1), buffer_->retains());
  Range to(destination, message.integer(3), buffer_->retains());
  if (from.data() < to.data() + bytes && to.data() < from.data() + bytes) {
    throw ContractViolation("source and destination of the copy overlap");
  }
  buffer_->add([from, to, bytes](CommandRun&) -> std::optional<CommandFailure> {
    if (from.data() == nullptr || to.data() == nullptr) return released();
    std::memcpy(to.data(), from.data(), bytes);
    return std::nullopt;
  });
  return kNothing;
}

Result BlitEncoder::set_label(const Message& message) {
  require_open();
  buffer_->open_info().label = argument<String>(message, 0).text();
  return kNothing;
}

Result BlitEncoder::end_encoding(const Message&) {
  require_open();
  is_open_ = false;
  buffer_->end_encoder();
  return kNothing;
}

}  // namespace enceladus::fake_metal
