#include "runtime/metal/host_arrays.h"

#include <algorithm>
#include <cstring>

#include "runtime/common/failure.h"
#include "runtime/metal/buffer.h"
#include "support/check.h"

namespace enceladus::metal {
namespace {

// What a launch's facts are about. Buffers are longer than their arrays, as Metal has none of 0
// bytes and atomics of narrow elements work on whole words.
constexpr uint64_t kAlignment = 16;

}  // namespace

HostArrays::HostArrays(Context& context, const Launch& launch)
    : context_(context), memory_(launch.host_memory) {
  if (memory_.empty()) collect(launch);
  for (Piece& piece : pieces_) make_buffer(piece);
}

void HostArrays::collect(const Launch& launch) {
  const std::vector<Parameter>& parameters = launch.kernel->artifact().parameters;
  std::vector<Piece> arrays;
  for (const uint16_t index : launch.host_arrays)
    arrays.emplace_back(launch.extents[2 * index], launch.extents[2 * index + 1],
                        parameters[index].is_written);
  // Longer ones first where several begin together, so that empty ones find a piece to join.
  std::sort(arrays.begin(), arrays.end(), [](const Piece& one, const Piece& other) {
    return one.low != other.low ? one.low < other.low : one.high > other.high;
  });
  for (Piece& array : arrays) {
    const bool joins =
        !pieces_.empty() && (array.low < pieces_.back().high || array.low == pieces_.back().low);
    if (!joins) {
      pieces_.push_back(std::move(array));
      continue;
    }
    pieces_.back().high = std::max(pieces_.back().high, array.high);
    pieces_.back().is_written |= array.is_written;
    pieces_.back().is_shared = true;
  }
}

void HostArrays::make_buffer(Piece& piece) {
  if (piece.high > piece.low) {
    const Pages pages(piece.low, piece.high);
    piece.base = pages.first;
    piece.buffer = context_.api.new_buffer_no_copy(
        context_.device.get(), reinterpret_cast<void*>(pages.first), pages.bytes);
    if (piece.buffer) return;
  }
  // Where several arrays share the copy, what was aligned stays aligned.
  piece.base = piece.is_shared ? piece.low / kAlignment * kAlignment : piece.low;
  const uint64_t bytes = piece.high - piece.base;
  piece.is_copy = true;
  piece.buffer =
      context_.api.new_buffer(context_.device.get(), bytes / kAlignment * kAlignment + kAlignment);
  if (piece.buffer) piece.contents = context_.api.contents(piece.buffer.get());
  if (!piece.contents)
    throw DeviceFailure("metal", "newBufferWithLength: no memory for a copy of " +
                                     std::to_string(bytes) + " bytes");
  copy(piece, Direction::kIn);
}

BoundPointer HostArrays::find(size_t number, uint64_t address) const {
  if (!memory_.empty()) return static_cast<const WrappedMemory*>(memory_[number])->find(address);
  const auto holds = [&](const Piece& piece) {
    return address == piece.low || (address > piece.low && address < piece.high);
  };
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(), holds);
  ENC_CHECK(piece != pieces_.end(), "an array's first element lies outside its extents");
  return {.buffer = piece->buffer.get(), .offset = address - piece->base};
}

void HostArrays::copy(const Piece& piece, Direction direction) {
  void* host = reinterpret_cast<void*>(piece.low);
  void* device = static_cast<char*>(piece.contents) + (piece.low - piece.base);
  const uint64_t bytes = piece.high - piece.low;
  if (direction == Direction::kIn)
    std::memcpy(device, host, bytes);
  else
    std::memcpy(host, device, bytes);
}

bool HostArrays::has_copies() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.is_copy; });
}

bool HostArrays::copies_back() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.is_copy && piece.is_written; });
}

void HostArrays::copy_back() const {
  for (const Piece& piece : pieces_)
    if (piece.is_copy && piece.is_written) copy(piece, Direction::kBack);
}

std::vector<Owned> HostArrays::share_buffers() const {
  std::vector<Owned> buffers;
  for (const Piece& piece : pieces_)
    buffers.push_back(Owned::share(context_.objc, piece.buffer.get()));
  return buffers;
}

}  // namespace enceladus::metal
