// Functions of the simulator's runtime that the headers call, and how values travel to them: as
// the low bits of a 64-bit integer.
#pragma once

#include <enceladus/operations.h>
#include <enceladus/vectors.h>

extern "C" ulong enceladus_simd(uint operation, uint type, ulong value, ulong second,
                                uint parameter, ulong place);
extern "C" ulong enceladus_multiply(ulong a, ulong b, ulong accumulator, ulong place);
__attribute__((const)) extern "C" uint enceladus_lane();
__attribute__((const)) extern "C" uint enceladus_fragment_place(uint lane, uint element);
extern "C" ulong enceladus_atomic(uint operation, uint type, ulong address, ulong operand,
                                  ulong compare);

// All threads of the given number of SIMD groups meet.
extern "C" void enceladus_enter_scope(uint simdgroups, uint line, uint column);
// The element of a cooperative tensor that this thread holds in slot `i` of `owned`.
__attribute__((const)) extern "C" uint enceladus_owned_place(uint threads, uint owned, uint i);
// Whether the last compare-and-exchange of this thread stored its value.
extern "C" bool enceladus_exchanged();

namespace metal {
namespace enceladus {
template <class T>
struct type_of;
#define ENCELADUS_TYPE_OF(T, tag, bits_type)                                            \
  template <>                                                                           \
  struct type_of<T> {                                                                   \
    static constexpr constant uint value = tag;                                         \
    static inline ulong pack(T x) { return (ulong)__builtin_bit_cast(bits_type, x); }   \
    static inline T unpack(ulong x) { return __builtin_bit_cast(T, (bits_type)x); }     \
  };
ENCELADUS_TYPE_OF(char, ENCELADUS_CHAR, uchar)
ENCELADUS_TYPE_OF(uchar, ENCELADUS_UCHAR, uchar)
ENCELADUS_TYPE_OF(short, ENCELADUS_SHORT, ushort)
ENCELADUS_TYPE_OF(ushort, ENCELADUS_USHORT, ushort)
ENCELADUS_TYPE_OF(int, ENCELADUS_INT, uint)
ENCELADUS_TYPE_OF(uint, ENCELADUS_UINT, uint)
ENCELADUS_TYPE_OF(long, ENCELADUS_LONG, ulong)
ENCELADUS_TYPE_OF(ulong, ENCELADUS_ULONG, ulong)
ENCELADUS_TYPE_OF(half, ENCELADUS_HALF, ushort)
ENCELADUS_TYPE_OF(float, ENCELADUS_FLOAT, uint)
#undef ENCELADUS_TYPE_OF

// These words are the runtime's own memory.
#define ENCELADUS_UNCHECKED __attribute__((no_sanitize("thread")))

// A built-in value as the type of the kernel's parameter, from three words.
template <class T>
struct builtin {
  ENCELADUS_UNCHECKED static inline T read(const thread uint* words) { return (T)words[0]; }
};
template <class T, uint N>
struct builtin<vec<T, N>> {
  ENCELADUS_UNCHECKED static inline vec<T, N> read(const thread uint* words) {
    vec<T, N> result;
    for (uint i = 0; i < N; ++i) result[i] = (T)words[i];
    return result;
  }
};

inline ulong place_of(uint line, uint column) { return (ulong)line << 32 | column; }
}  // namespace enceladus
}  // namespace metal
