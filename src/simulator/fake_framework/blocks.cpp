#include "simulator/fake_framework/blocks.h"

#include <cstdlib>
#include <cstring>

#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/runtime.h"

void* _NSConcreteStackBlock[32];
void* _NSConcreteGlobalBlock[32];

namespace enceladus::fake_metal {
namespace {

constexpr int32_t kReferenceStep = 2;  // in the low half of the flags of a copied block
constexpr int32_t kReferenceMask = 0xfffe;
constexpr int32_t kIsCopied = 1 << 24;

}  // namespace

Block::Block(const void* literal) {
  const auto* block = static_cast<const BlockLiteral*>(literal);
  if (block != nullptr && (block->invoke == nullptr || block->descriptor == nullptr ||
                           block->descriptor->size < sizeof(BlockLiteral))) {
    throw ContractViolation("a handler is no block: it has no function or no descriptor");
  }
  literal_ = static_cast<BlockLiteral*>(_Block_copy(literal));
}

Block::~Block() { _Block_release(literal_); }

}  // namespace enceladus::fake_metal

namespace fake = enceladus::fake_metal;

void* _Block_copy(const void* literal) {
  if (literal == nullptr) return nullptr;
  auto* from = static_cast<fake::BlockLiteral*>(const_cast<void*>(literal));
  if ((from->flags & fake::BlockLiteral::kIsGlobal) != 0) return from;
  if ((from->flags & fake::kIsCopied) != 0) {
    __atomic_fetch_add(&from->flags, fake::kReferenceStep, __ATOMIC_RELAXED);
    return from;
  }
  auto* to = static_cast<fake::BlockLiteral*>(std::malloc(from->descriptor->size));
  std::memcpy(to, from, from->descriptor->size);
  to->flags = (from->flags & ~fake::kReferenceMask) | fake::kIsCopied | fake::kReferenceStep;
  if ((from->flags & fake::BlockLiteral::kHasCopyDispose) != 0) {
    from->descriptor->copy(to, from);
  }
  return to;
}

void _Block_release(const void* literal) {
  if (literal == nullptr) return;
  auto* block = static_cast<fake::BlockLiteral*>(const_cast<void*>(literal));
  if ((block->flags & fake::kIsCopied) == 0) return;
  int32_t left = __atomic_sub_fetch(&block->flags, fake::kReferenceStep, __ATOMIC_ACQ_REL);
  if ((left & fake::kReferenceMask) != 0) return;
  if ((block->flags & fake::BlockLiteral::kHasCopyDispose) != 0) block->descriptor->dispose(block);
  std::free(block);
}
