// MTLBuffer: memory that host and kernels share, allocated here or wrapped without a copy.
#pragma once

#include <cstddef>
#include <string>

#include "simulator/fake_framework/blocks.h"
#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

class Buffer : public Body {
 public:
  static constexpr uint64_t kPage = 16384;

  static const Class& type();
  // Zeros. Null where the machine has not that much memory.
  static Object* allocate(uint64_t bytes, uint64_t options);
  // Memory of the host: whole pages. Null where they are not mapped.
  static Object* wrap(std::byte* data, uint64_t bytes, uint64_t options, Block deallocator);

  // Owns the memory unless there is a deallocator or `is_wrapped`.
  Buffer(std::byte* data, uint64_t bytes, uint64_t options, bool is_wrapped, Block deallocator);
  ~Buffer() override;

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

  Result contents(const Message& message);
  Result length(const Message& message);
  Result gpu_address(const Message& message);
  Result storage_mode(const Message& message);
  Result resource_options(const Message& message);
  Result did_modify(const Message& message);

  std::string label;

 private:
  std::byte* data_;
  uint64_t bytes_;
  uint64_t options_;
  bool is_wrapped_;
  Block deallocator_;
};

}  // namespace enceladus::fake_metal
