// The operations that the headers ask of the simulator's runtime. Read by both sides, so it holds
// nothing but enumerations. Not for kernels.
#pragma once

enum EnceladusSimdOperation {
  ENCELADUS_SIMD_SUM,
  ENCELADUS_SIMD_PRODUCT,
  ENCELADUS_SIMD_MAX,
  ENCELADUS_SIMD_MIN,
  ENCELADUS_SIMD_AND,
  ENCELADUS_SIMD_OR,
  ENCELADUS_SIMD_XOR,
  ENCELADUS_SIMD_PREFIX_INCLUSIVE_SUM,
  ENCELADUS_SIMD_PREFIX_EXCLUSIVE_SUM,
  ENCELADUS_SIMD_PREFIX_INCLUSIVE_PRODUCT,
  ENCELADUS_SIMD_PREFIX_EXCLUSIVE_PRODUCT,
  ENCELADUS_SIMD_BROADCAST,  // parameter: the lane
  ENCELADUS_SIMD_BROADCAST_FIRST,
  ENCELADUS_SIMD_SHUFFLE,       // parameter: the lane, a different one for each caller
  ENCELADUS_SIMD_SHUFFLE_XOR,   // parameter: the mask
  ENCELADUS_SIMD_SHUFFLE_UP,    // parameter: the distance
  ENCELADUS_SIMD_SHUFFLE_DOWN,  // parameter: the distance
  ENCELADUS_SIMD_ROTATE_UP,
  ENCELADUS_SIMD_ROTATE_DOWN,
  ENCELADUS_SIMD_FILL_UP,    // like the shuffle, but lanes beyond the end take `second`
  ENCELADUS_SIMD_FILL_DOWN,  // of the lane that the distance wraps around to
  ENCELADUS_SIMD_BALLOT,
  ENCELADUS_SIMD_ALL,
  ENCELADUS_SIMD_ANY,
  ENCELADUS_SIMD_ACTIVE_MASK,
  ENCELADUS_SIMD_IS_FIRST,
  ENCELADUS_SIMD_CONVERGE,  // matrix loads and stores: all lanes must take part
  ENCELADUS_SIMD_MULTIPLY,  // 8x8 matrices: value, second and third are pairs of A, B and C
  ENCELADUS_SIMD_BARRIER,   // parameter: mem_flags
  ENCELADUS_SIMD_SCOPE,     // a tensor operation begins; parameter: its number of SIMD groups
};

enum EnceladusType {
  ENCELADUS_CHAR,
  ENCELADUS_UCHAR,
  ENCELADUS_SHORT,
  ENCELADUS_USHORT,
  ENCELADUS_INT,
  ENCELADUS_UINT,
  ENCELADUS_LONG,
  ENCELADUS_ULONG,
  ENCELADUS_HALF,
  ENCELADUS_FLOAT,
};

enum EnceladusAtomicOperation {
  ENCELADUS_ATOMIC_LOAD,
  ENCELADUS_ATOMIC_STORE,
  ENCELADUS_ATOMIC_EXCHANGE,
  ENCELADUS_ATOMIC_COMPARE_EXCHANGE,  // the result is the old value; it may fail without a cause
  ENCELADUS_ATOMIC_ADD,
  ENCELADUS_ATOMIC_SUB,
  ENCELADUS_ATOMIC_AND,
  ENCELADUS_ATOMIC_OR,
  ENCELADUS_ATOMIC_XOR,
  ENCELADUS_ATOMIC_MAX,
  ENCELADUS_ATOMIC_MIN,
};
