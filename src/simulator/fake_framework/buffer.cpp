#include "simulator/fake_framework/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "simulator/fake_framework/device.h"
#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/property.h"

namespace enceladus::fake_metal {
namespace {

constexpr uint64_t kShared = 0, kManaged = 1, kPrivate = 2;

uint64_t storage_mode_of(uint64_t options) { return options >> 4 & 0xf; }

void check_length(uint64_t bytes) {
  if (bytes == 0) throw ContractViolation("a buffer of 0 bytes");
}

void check_options(uint64_t options) {
  uint64_t mode = storage_mode_of(options);
  if (mode == kManaged) {
    throw ContractViolation("storage mode managed: Apple GPUs have shared and private buffers");
  }
  if (mode != kShared && mode != kPrivate) {
    throw ContractViolation("storage mode " + std::to_string(mode) + " is not one of a buffer");
  }
}

// Whether every page of the range is mapped.
bool is_mapped(std::byte* data, uint64_t bytes) { return msync(data, bytes, MS_ASYNC) == 0; }

}  // namespace

const Class& Buffer::type() {
  static constexpr Method kMethods[] = {
      method<&Buffer::contents>("contents", Failure::kNil),
      method<&Buffer::length>("length"),
      method<&Buffer::length>("allocatedSize"),
      method<&Buffer::gpu_address>("gpuAddress"),
      method<&Buffer::storage_mode>("storageMode"),
      method<&Buffer::resource_options>("resourceOptions"),
      method<&Buffer::did_modify>("didModifyRange:"),
      getter<&Buffer::label>("label"),
      setter<&Buffer::label>("setLabel:"),
  };
  static const Class& type =
      *new Class({.name = "MTLBuffer", .methods = kMethods, .is_protocol = true});
  return type;
}

Object* Buffer::allocate(uint64_t bytes, uint64_t options) {
  check_length(bytes);
  check_options(options);
  if (bytes > Device::kMaximalBufferBytes) return nullptr;
  uint64_t whole = (bytes + kPage - 1) / kPage * kPage;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kPage, whole));
  if (data == nullptr) return nullptr;
  std::memset(data, 0, whole);
  return make<Buffer>(data, bytes, options, false, Block());
}

Object* Buffer::wrap(std::byte* data, uint64_t bytes, uint64_t options, Block deallocator) {
  check_length(bytes);
  check_options(options);
  if (storage_mode_of(options) != kShared) {
    throw ContractViolation("memory of the host can only be a shared buffer");
  }
  if (reinterpret_cast<uintptr_t>(data) % kPage != 0 || bytes % kPage != 0) {
    throw ContractViolation(
        "pointer and length must be multiples of 16384, the size of a page; they are " +
        std::to_string(reinterpret_cast<uintptr_t>(data) % kPage) + " and " +
        std::to_string(bytes % kPage) + " beyond one");
  }
  if (!is_mapped(data, bytes)) return nullptr;
  return make<Buffer>(data, bytes, options, true, std::move(deallocator));
}

Buffer::Buffer(std::byte* data, uint64_t bytes, uint64_t options, bool is_wrapped,
               Block deallocator)
    : data_(data),
      bytes_(bytes),
      options_(options),
      is_wrapped_(is_wrapped),
      deallocator_(std::move(deallocator)) {}

Buffer::~Buffer() {
  if (deallocator_) deallocator_.call(static_cast<void*>(data_), bytes_);
  if (!is_wrapped_) std::free(data_);
}

Result Buffer::contents(const Message&) {
  return storage_mode_of(options_) == kPrivate ? kNothing : give(data_);
}
Result Buffer::length(const Message&) { return give(bytes_); }
Result Buffer::gpu_address(const Message&) { return give(data_); }
Result Buffer::storage_mode(const Message&) { return give(storage_mode_of(options_)); }
Result Buffer::resource_options(const Message&) { return give(options_); }
Result Buffer::did_modify(const Message&) {
  throw ContractViolation("only managed buffers are told what was modified");
}

}  // namespace enceladus::fake_metal
