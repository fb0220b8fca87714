// Blocks: closures that a host program hands over, by the public ABI of clang's blocks.
#pragma once

#include <cstdint>
#include <utility>

namespace enceladus::fake_metal {

struct BlockDescriptor {
  uint64_t reserved;
  uint64_t size;
  // Only with kHasCopyDispose:
  void (*copy)(void* to, const void* from);
  void (*dispose)(const void* block);
};

struct BlockLiteral {
  static constexpr int32_t kHasCopyDispose = 1 << 25;
  static constexpr int32_t kIsGlobal = 1 << 28;

  void* isa;
  int32_t flags;
  int32_t reserved;
  void (*invoke)(BlockLiteral* self, ...);
  BlockDescriptor* descriptor;
};

// A block that is kept: copied when it is handed over, as its own storage may be a stack frame.
class Block {
 public:
  Block() = default;
  // Null gives an empty one. Throws ContractViolation for what cannot be a block.
  explicit Block(const void* literal);
  Block(Block&& other) noexcept : literal_(std::exchange(other.literal_, nullptr)) {}
  Block& operator=(Block&& other) noexcept {
    std::swap(literal_, other.literal_);
    return *this;
  }
  ~Block();

  explicit operator bool() const { return literal_ != nullptr; }
  template <class... Arguments>
  void call(Arguments... arguments) const {
    auto* exact = reinterpret_cast<void (*)(BlockLiteral*, Arguments...)>(literal_->invoke);
    exact(literal_, arguments...);
  }

 private:
  BlockLiteral* literal_ = nullptr;
};

}  // namespace enceladus::fake_metal
