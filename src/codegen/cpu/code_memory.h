// The memory that one object file's sections are loaded into: a single mapping. Generated code
// reaches its constants by 32-bit distances, so sections may not lie apart, and separate mappings
// do as soon as something large was mapped between them (a GPU driver reserves gigabytes, so does
// a big array).
#pragma once

#include <llvm/ExecutionEngine/RTDyldMemoryManager.h>
#include <llvm/Support/Memory.h>

#include <string>

namespace enceladus::cpu {

// Writable until finalizeMemory; code can be called after it. Unmapped by the destructor.
class CodeMemory : public llvm::RTDyldMemoryManager {
 public:
  CodeMemory() = default;
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;
  ~CodeMemory() override;

  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t code_bytes, llvm::Align code_alignment,
                              uintptr_t constant_bytes, llvm::Align constant_alignment,
                              uintptr_t data_bytes, llvm::Align data_alignment) override;
  // Null, which the linker takes as the end of memory, where more is asked for than was reserved.
  uint8_t* allocateCodeSection(uintptr_t bytes, unsigned alignment, unsigned id,
                               llvm::StringRef name) override;
  uint8_t* allocateDataSection(uintptr_t bytes, unsigned alignment, unsigned id,
                               llvm::StringRef name, bool is_read_only) override;
  // True, and the reason in `error`, where the system does not allow what the sections need.
  bool finalizeMemory(std::string* error) override;

 private:
  // Whole pages of one protection.
  struct Part {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    uintptr_t next = 0;  // first byte not given away

    uint8_t* take(uintptr_t bytes, uintptr_t alignment);
    llvm::sys::MemoryBlock block() const;
  };

  llvm::sys::MemoryBlock mapping_;
  Part code_, constants_, data_;
};

}  // namespace enceladus::cpu
