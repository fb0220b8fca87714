#include <metal_stdlib>
using namespace metal;

struct Scalars {
  int n;
};

[[max_total_threads_per_threadgroup(128)]]
kernel void add(
    device const float* x_ptr [[buffer(0)]],
    device const float* y_ptr [[buffer(1)]],
    device float* out_ptr [[buffer(2)]],
    constant Scalars& scalars [[buffer(3)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]])
{
  const int n = scalars.n;
  const int pid = int(program.x);
  const int v0 = int(uint(pid) * uint(1024));
  const int v1 = int(((lane << 2) | (warp << 8)));
  int v2[8];
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    v2[r] = int(uint((v1 + ((r & 3) | ((r >> 2) << 7)))) + uint(v0));
  }
  bool v3[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int offsets = int(uint((v1 + (r << 7))) + uint(v0));
    v3[r] = offsets < n;
  }
  float x[8];
#pragma unroll
  for (int r = 0; r < 8; r += 4) {
    const float4 piece = v3[(r >> 2)] ? *(device const float4*)(x_ptr + v2[r]) : float4(0);
    x[r] = piece[0];
    x[r + 1] = piece[1];
    x[r + 2] = piece[2];
    x[r + 3] = piece[3];
  }
  float y[8];
#pragma unroll
  for (int r = 0; r < 8; r += 4) {
    const float4 piece_1 = v3[(r >> 2)] ? *(device const float4*)(y_ptr + v2[r]) : float4(0);
    y[r] = piece_1[0];
    y[r + 1] = piece_1[1];
    y[r + 2] = piece_1[2];
    y[r + 3] = piece_1[3];
  }
  float sum[8];
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    sum[r] = x[r] + y[r];
  }
#pragma unroll
  for (int r = 0; r < 8; r += 4) {
    if (v3[(r >> 2)]) *(device float4*)(out_ptr + v2[r]) = float4(sum[r], sum[r + 1], sum[r + 2], sum[r + 3]);
  }
}
