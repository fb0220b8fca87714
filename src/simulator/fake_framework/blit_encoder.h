// MTLBlitCommandEncoder: fills and copies of buffers.
#pragma once

#include "simulator/fake_framework/buffer.h"
#include "simulator/fake_framework/command_buffer.h"
#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

class BlitEncoder : public Body {
 public:
  static const Class& type();
  explicit BlitEncoder(Ref<CommandBuffer> buffer) : buffer_(std::move(buffer)) {}
  ~BlitEncoder() override;
  void fail(const std::string& reason) override { buffer_->fail(reason); }

  Result fill(const Message& message);
  Result copy(const Message& message);
  Result set_label(const Message& message);
  Result end_encoding(const Message& message);

 private:
  void require_open() const;

  Ref<CommandBuffer> buffer_;
  bool is_open_ = true;
};

}  // namespace enceladus::fake_metal
