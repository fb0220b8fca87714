// Arrays of the host (NumPy's and the like) as Metal buffers for one launch: in memory that stays
// wrapped where the launch brings it, else wrapped now by the whole pages that they span, else
// copied in, and what the kernel wrote copied back. Arrays that overlap share a buffer, so that a
// store to one is seen in the other.
#pragma once

#include <vector>

#include "runtime/common/stream.h"
#include "runtime/metal/context.h"

namespace enceladus::metal {

inline constexpr uint64_t kPageBytes = 16384;  // of Apple silicon

// The whole pages around some bytes of the host.
struct Pages {
  Pages(uint64_t low, uint64_t high)
      : first(low / kPageBytes * kPageBytes),
        bytes((high + kPageBytes - 1) / kPageBytes * kPageBytes - first) {}
  uint64_t first;
  uint64_t bytes;
};

class HostArrays {
 public:
  // Makes the buffers for the launch's `host_arrays`. Throws DeviceFailure.
  HostArrays(Context& context, const Launch& launch);

  // Of the address in one of the arrays; `number` is its place in `host_arrays`.
  BoundPointer find(size_t number, uint64_t address) const;
  // Whether anything was copied, so that it may lack what launches under way still write.
  bool has_copies() const;
  // Whether results must be copied back once the launch has run.
  bool copies_back() const;
  void copy_back() const;
  // The buffers, each counted once more, to be kept until Metal is done with the command buffer.
  std::vector<Owned> share_buffers() const;

 private:
  enum class Direction { kIn, kBack };
  struct Piece {
    Piece(uint64_t low, uint64_t high, bool is_written)
        : low(low), high(high), is_written(is_written) {}
    uint64_t low;
    uint64_t high;
    bool is_written;
    bool is_shared = false;  // by several arrays
    bool is_copy = false;
    uint64_t base = 0;  // address of the buffer's first byte in the host's numbering
    Owned buffer;
    void* contents = nullptr;
  };
  void collect(const Launch& launch);
  void make_buffer(Piece& piece);
  static void copy(const Piece& piece, Direction direction);

  Context& context_;
  std::span<Buffer* const> memory_;  // of the launch; where it is there, there are no pieces
  std::vector<Piece> pieces_;        // by address, disjoint
};

}  // namespace enceladus::metal
