// Matrix products of tensors by all threads of a scope (`mpp::tensor_ops::matmul2d`). Each thread
// computes the elements that it owns, in order of k, in float or int. Which elements those are is
// not specified by Apple; here one slot of each thread is not valid, so that a kernel which does
// not ask `is_valid_element` shows it.
#pragma once

#include <enceladus/runtime.h>
#include <metal_tensor>

#if __METAL_VERSION__ >= 400
namespace mpp {
namespace tensor_ops {
struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
};

// A descriptor is a number, since objects cannot be template arguments here: 16 bits each for m, n
// and k (all ones: dynamic), then the flags.
constexpr ulong enceladus_descriptor(int m, int n, int k = -1, bool transpose_left = false,
                                     bool transpose_right = false, bool relaxed = false,
                                     matmul2d_descriptor::mode mode =
                                         matmul2d_descriptor::mode::multiply) {
  return (ulong)(ushort)m | (ulong)(ushort)n << 16 | (ulong)(ushort)k << 32 |
         (ulong)transpose_left << 48 | (ulong)transpose_right << 49 |
         (ulong)(mode == matmul2d_descriptor::mode::multiply_accumulate) << 50;
}

namespace enceladus_detail {
using metal::is_same_v;

// The type without its address space and `const`.
template <class T>
struct plain {
  typedef T type;
};
template <class T>
struct plain<const T> : plain<T> {};
template <class T>
struct plain<__global T> : plain<T> {};
template <class T>
struct plain<const __global T> : plain<T> {};
template <class T>
struct plain<__local T> : plain<T> {};
template <class T>
struct plain<const __local T> : plain<T> {};
template <class Tensor>
using element = typename plain<typename Tensor::enceladus_element>::type;

template <class T>
constexpr constant bool is_small_float = is_same_v<T, half> || is_same_v<T, bfloat>;
template <class T>
constexpr constant bool is_float_type = is_small_float<T> || is_same_v<T, float>;

// Operand and result types of macOS 26.1.
template <class A, class B, class C>
constexpr bool supported() {
  if (is_same_v<A, int8_t> && is_same_v<B, int8_t>) return is_same_v<C, int>;
  if (is_same_v<C, float>)
    return (is_float_type<A> || is_same_v<A, int8_t>) && (is_float_type<B> || is_same_v<B, int8_t>);
  if (is_same_v<A, half> && is_same_v<B, half>) return is_same_v<C, half>;
  if (is_same_v<A, bfloat> && is_same_v<B, bfloat>) return is_same_v<C, bfloat>;
  if (is_small_float<A> && is_small_float<B>) return is_small_float<C>;
  if (is_same_v<A, int8_t>) return is_small_float<B> && is_same_v<B, C>;
  if (is_same_v<B, int8_t>) return is_small_float<A> && is_same_v<A, C>;
  return false;
}
}  // namespace enceladus_detail

template <class T, int columns, int rows, int threads>
class cooperative_tensor {
  static constexpr constant int kOwned = (columns * rows + threads - 1) / threads;

 public:
  typedef T enceladus_element;

  uint16_t get_capacity() const { return kOwned + 1; }
  bool is_valid_element(uint16_t i) const { return place(i) < (uint)(columns * rows); }
  bool get_mask(uint16_t i) const { return is_valid_element(i); }
  thread T& operator[](uint16_t i) thread { return elements_[i]; }
  // Column and row within the tile.
  metal::array<int, 2> get_multidimensional_index(uint16_t i) const {
    return {{(int)(place(i) % columns), (int)(place(i) / columns)}};
  }
  template <class Tensor>
  void load(Tensor source) thread {
    static_assert(metal::is_same_v<enceladus_detail::element<Tensor>, T>,
                  "load: the tensor has another element type");
    for (uint16_t i = 0; i < get_capacity(); ++i) {
      if (!is_valid_element(i)) continue;
      int column = place(i) % columns, row = place(i) / columns;
      elements_[i] = source.enceladus_holds(column, row) ? *source.enceladus_address(column, row) : (T)0;
    }
  }
  template <class Tensor>
  void store(Tensor destination) const thread {
    static_assert(metal::is_same_v<enceladus_detail::element<Tensor>, T>,
                  "store: the tensor has another element type");
    for (uint16_t i = 0; i < get_capacity(); ++i) {
      if (!is_valid_element(i)) continue;
      int column = place(i) % columns, row = place(i) / columns;
      if (destination.enceladus_holds(column, row))
        *destination.enceladus_address(column, row) = elements_[i];
    }
  }

 private:
  static uint place(uint16_t i) {
    return i < kOwned ? enceladus_owned_place(threads, kOwned, i) : (uint)(columns * rows);
  }

  T elements_[kOwned + 1];
};

template <ulong descriptor, class Scope>
class matmul2d {
  static constexpr constant int kRows = descriptor & 0xffff;
  static constexpr constant int kColumns = descriptor >> 16 & 0xffff;
  static constexpr constant int kDepth = descriptor >> 32 & 0xffff;
  static constexpr constant bool kTransposeLeft = descriptor >> 48 & 1;
  static constexpr constant bool kTransposeRight = descriptor >> 49 & 1;
  static constexpr constant bool kAccumulate = descriptor >> 50 & 1;
  static constexpr constant int kGroups = Scope::enceladus_simdgroups;
  template <class T>
  using destination = cooperative_tensor<T, kColumns, kRows, 32 * kGroups>;

 public:
  template <class Left, class Right, class T>
  destination<T> get_destination_cooperative_tensor() const {
    static_assert(enceladus_detail::supported<enceladus_detail::element<Left>,
                                              enceladus_detail::element<Right>, T>(),
                  "matmul2d has no such combination of element types");
    return destination<T>();
  }

  template <class Left, class Right, class T>
  void run(Left left, Right right, thread destination<T>& result, ENCELADUS_PLACE) const {
    enceladus_enter_scope(kGroups, line, column);
    accumulate(left, right, result);
  }
  template <class Left, class Right, class T, class Extents, class Kind>
  void run(Left left, Right right, metal::tensor<T, Extents, Kind> result, ENCELADUS_PLACE) const {
    typedef typename enceladus_detail::plain<T>::type Element;
    destination<Element> sums =
        get_destination_cooperative_tensor<Left, Right, Element>();
    enceladus_enter_scope(kGroups, line, column);
    if (kAccumulate) sums.load(result);
    accumulate(left, right, sums);
    sums.store(result);
  }

 private:
  template <class Sum, class Tensor>
  static Sum load(Tensor from, int column, int row) {
    return from.enceladus_holds(column, row) ? (Sum)*from.enceladus_address(column, row) : (Sum)0;
  }
  template <class Left, class Right, class T>
  static void accumulate(Left left, Right right, thread destination<T>& result) {
    typedef metal::conditional_t<metal::is_same_v<T, int>, int, float> Sum;
    int depth = kDepth != 0xffff ? kDepth : (int)left.get_extent(kTransposeLeft ? 1 : 0);
    for (uint16_t i = 0; i < result.get_capacity(); ++i) {
      if (!result.is_valid_element(i)) continue;
      metal::array<int, 2> at = result.get_multidimensional_index(i);
      Sum sum = kAccumulate ? (Sum)result[i] : (Sum)0;
      for (int k = 0; k < depth; ++k) {
        Sum x = kTransposeLeft ? load<Sum>(left, at[1], k) : load<Sum>(left, k, at[1]);
        Sum y = kTransposeRight ? load<Sum>(right, k, at[0]) : load<Sum>(right, at[0], k);
        sum += x * y;
      }
      result[i] = (T)sum;
    }
  }
};
}  // namespace tensor_ops
}  // namespace mpp

#define matmul2d_descriptor(...) enceladus_descriptor(__VA_ARGS__)
#endif
