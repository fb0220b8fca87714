// Vector types and their constructors. A type name followed by `(` is a macro that builds a vector
// from scalars and shorter vectors, since OpenCL knows only the cast syntax for that.
#pragma once

#include <enceladus/keywords.h>

namespace metal {
template <class T, uint N>
using vec = T __attribute__((ext_vector_type(N)));

template <class A, class B>
struct is_same {
  static constexpr constant bool value = false;
};
template <class A>
struct is_same<A, A> {
  static constexpr constant bool value = true;
};
template <class A, class B>
constexpr constant bool is_same_v = is_same<A, B>::value;
template <bool condition, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  typedef T type;
};
template <bool condition, class T = void>
using enable_if_t = typename enable_if<condition, T>::type;
template <bool condition, class T, class F>
struct conditional {
  typedef T type;
};
template <class T, class F>
struct conditional<false, T, F> {
  typedef F type;
};
template <bool condition, class T, class F>
using conditional_t = typename conditional<condition, T, F>::type;

namespace enceladus {
// Three elements without padding; arithmetic is that of the vector it converts to.
template <class T>
struct packed3 {
  T x, y, z;
  packed3() = default;
  packed3(vec<T, 3> v) : x(v.x), y(v.y), z(v.z) {}
  operator vec<T, 3>() const { return (vec<T, 3>)(x, y, z); }
};

// Appends the elements of scalars and vectors to a vector, in order.
template <class T, uint N>
struct Builder {
  vec<T, N> result;
  uint next;

  template <class S>
  inline void append(S value) __private {
    result[next++] = (T)value;
  }
  template <class S, uint M>
  inline void append(vec<S, M> values) __private {
    for (uint i = 0; i < M; ++i) result[next++] = (T)values[i];
  }
  template <class S>
  inline void append(packed3<S> values) __private {
    append((vec<S, 3>)values);
  }
};

template <class S>
struct elements {
  static constexpr constant uint count = 1;
};
template <class S, uint M>
struct elements<vec<S, M>> {
  static constexpr constant uint count = M;
};
template <class S>
struct elements<packed3<S>> {
  static constexpr constant uint count = 3;
};

template <class V>
struct make;
template <class T, uint N>
struct make<vec<T, N>> {
  static inline vec<T, N> from() { return (vec<T, N>)((T)0); }
  template <class S>
  static inline vec<T, N> from(S value) {
    if constexpr (elements<S>::count == 1) {
      return (vec<T, N>)((T)value);
    } else {
      static_assert(elements<S>::count == N, "wrong number of elements for this vector");
      return __builtin_convertvector(value, vec<T, N>);
    }
  }
  template <class S, class U, class... Rest>
  static inline vec<T, N> from(S first, U second, Rest... rest) {
    static_assert((elements<S>::count + ... + elements<Rest>::count) + elements<U>::count == N,
                  "wrong number of elements for this vector");
    Builder<T, N> builder;
    builder.next = 0;
    builder.append(first);
    builder.append(second);
    (builder.append(rest), ...);
    return builder.result;
  }
};
}  // namespace enceladus
}  // namespace metal

#define ENCELADUS_VECTORS(type, name)                                                       \
  typedef metal::vec<type, 2> name##2;                                                      \
  typedef metal::vec<type, 3> name##3;                                                      \
  typedef metal::vec<type, 4> name##4;                                                      \
  typedef type packed_##name##2 __attribute__((ext_vector_type(2), aligned(sizeof(type)))); \
  typedef type packed_##name##4 __attribute__((ext_vector_type(4), aligned(sizeof(type)))); \
  typedef metal::enceladus::packed3<type> packed_##name##3;

ENCELADUS_VECTORS(char, char)
ENCELADUS_VECTORS(uchar, uchar)
ENCELADUS_VECTORS(short, short)
ENCELADUS_VECTORS(ushort, ushort)
ENCELADUS_VECTORS(int, int)
ENCELADUS_VECTORS(uint, uint)
ENCELADUS_VECTORS(long, long)
ENCELADUS_VECTORS(ulong, ulong)
ENCELADUS_VECTORS(half, half)
ENCELADUS_VECTORS(bfloat, bfloat)
ENCELADUS_VECTORS(float, float)
#undef ENCELADUS_VECTORS

#define char2(...) metal::enceladus::make<char2>::from(__VA_ARGS__)
#define char3(...) metal::enceladus::make<char3>::from(__VA_ARGS__)
#define char4(...) metal::enceladus::make<char4>::from(__VA_ARGS__)
#define uchar2(...) metal::enceladus::make<uchar2>::from(__VA_ARGS__)
#define uchar3(...) metal::enceladus::make<uchar3>::from(__VA_ARGS__)
#define uchar4(...) metal::enceladus::make<uchar4>::from(__VA_ARGS__)
#define short2(...) metal::enceladus::make<short2>::from(__VA_ARGS__)
#define short3(...) metal::enceladus::make<short3>::from(__VA_ARGS__)
#define short4(...) metal::enceladus::make<short4>::from(__VA_ARGS__)
#define ushort2(...) metal::enceladus::make<ushort2>::from(__VA_ARGS__)
#define ushort3(...) metal::enceladus::make<ushort3>::from(__VA_ARGS__)
#define ushort4(...) metal::enceladus::make<ushort4>::from(__VA_ARGS__)
#define int2(...) metal::enceladus::make<int2>::from(__VA_ARGS__)
#define int3(...) metal::enceladus::make<int3>::from(__VA_ARGS__)
#define int4(...) metal::enceladus::make<int4>::from(__VA_ARGS__)
#define uint2(...) metal::enceladus::make<uint2>::from(__VA_ARGS__)
#define uint3(...) metal::enceladus::make<uint3>::from(__VA_ARGS__)
#define uint4(...) metal::enceladus::make<uint4>::from(__VA_ARGS__)
#define long2(...) metal::enceladus::make<long2>::from(__VA_ARGS__)
#define long3(...) metal::enceladus::make<long3>::from(__VA_ARGS__)
#define long4(...) metal::enceladus::make<long4>::from(__VA_ARGS__)
#define ulong2(...) metal::enceladus::make<ulong2>::from(__VA_ARGS__)
#define ulong3(...) metal::enceladus::make<ulong3>::from(__VA_ARGS__)
#define ulong4(...) metal::enceladus::make<ulong4>::from(__VA_ARGS__)
#define half2(...) metal::enceladus::make<half2>::from(__VA_ARGS__)
#define half3(...) metal::enceladus::make<half3>::from(__VA_ARGS__)
#define half4(...) metal::enceladus::make<half4>::from(__VA_ARGS__)
#define bfloat2(...) metal::enceladus::make<bfloat2>::from(__VA_ARGS__)
#define bfloat3(...) metal::enceladus::make<bfloat3>::from(__VA_ARGS__)
#define bfloat4(...) metal::enceladus::make<bfloat4>::from(__VA_ARGS__)
#define float2(...) metal::enceladus::make<float2>::from(__VA_ARGS__)
#define float3(...) metal::enceladus::make<float3>::from(__VA_ARGS__)
#define float4(...) metal::enceladus::make<float4>::from(__VA_ARGS__)
