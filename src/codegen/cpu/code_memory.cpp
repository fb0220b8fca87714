#include "codegen/cpu/code_memory.h"

#include <llvm/Support/MathExtras.h>
#include <llvm/Support/Process.h>

#include <system_error>

namespace enceladus::cpu {
namespace {

using llvm::sys::Memory;

std::error_code protect(const llvm::sys::MemoryBlock& block, unsigned access) {
  if (block.allocatedSize() == 0) return {};
  return Memory::protectMappedMemory(block, access);
}

}  // namespace

CodeMemory::~CodeMemory() {
  if (mapping_.base() != nullptr) Memory::releaseMappedMemory(mapping_);
}

uint8_t* CodeMemory::Part::take(uintptr_t bytes, uintptr_t alignment) {
  const uintptr_t place = llvm::alignTo(next, alignment == 0 ? 1 : alignment);
  if (place + bytes > end) return nullptr;
  next = place + bytes;
  return reinterpret_cast<uint8_t*>(place);
}

llvm::sys::MemoryBlock CodeMemory::Part::block() const {
  return {reinterpret_cast<void*>(begin), end - begin};
}

void CodeMemory::reserveAllocationSpace(uintptr_t code_bytes, llvm::Align code_alignment,
                                        uintptr_t constant_bytes, llvm::Align constant_alignment,
                                        uintptr_t data_bytes, llvm::Align data_alignment) {
  const uintptr_t page = llvm::sys::Process::getPageSizeEstimate();
  // The linker's sums hold each section at its own alignment; a part begins at a page's.
  const auto pages = [page](uintptr_t bytes, llvm::Align alignment) {
    return bytes == 0 ? 0 : llvm::alignTo(bytes + alignment.value(), page);
  };
  // Nor do they hold the word of data that each stub (6 bytes of code) of a far function takes.
  const uintptr_t sizes[] = {pages(code_bytes, code_alignment),
                             pages(constant_bytes, constant_alignment),
                             pages(data_bytes + 2 * code_bytes, data_alignment)};
  std::error_code failed;
  mapping_ = Memory::allocateMappedMemory(sizes[0] + sizes[1] + sizes[2], nullptr,
                                          Memory::MF_READ | Memory::MF_WRITE, failed);
  if (failed) return;  // the parts stay empty
  auto next = reinterpret_cast<uintptr_t>(mapping_.base());
  size_t index = 0;
  for (Part* part : {&code_, &constants_, &data_}) {
    *part = {.begin = next, .end = next + sizes[index++], .next = next};
    next = part->end;
  }
}

uint8_t* CodeMemory::allocateCodeSection(uintptr_t bytes, unsigned alignment, unsigned,
                                         llvm::StringRef) {
  return code_.take(bytes, alignment);
}

uint8_t* CodeMemory::allocateDataSection(uintptr_t bytes, unsigned alignment, unsigned,
                                         llvm::StringRef, bool is_read_only) {
  return (is_read_only ? constants_ : data_).take(bytes, alignment);
}

bool CodeMemory::finalizeMemory(std::string* error) {
  Memory::InvalidateInstructionCache(code_.block().base(), code_.block().allocatedSize());
  std::error_code failed = protect(code_.block(), Memory::MF_READ | Memory::MF_EXEC);
  if (!failed) failed = protect(constants_.block(), Memory::MF_READ);
  if (failed && error != nullptr) *error = failed.message();
  return static_cast<bool>(failed);
}

}  // namespace enceladus::cpu
