// Helper functions of kernels with rings: barriers of shared memory, the copy engine, asynchronous
// products. The words are PTX's; waits and arrivals without `.release` and `.acquire`, which cost a
// fence of the whole device each time and which the engines do not need.
#include "codegen/cuda/snippets.h"

namespace enceladus::cuda {
namespace {

constexpr Snippet kAsyncSnippets[] = {
    {"shared_address", R"(__device__ inline int enc_shared_address(const void* pointer) {
  return int(__cvta_generic_to_shared(pointer));
}
)"},
    {"tensor_map", R"(// Describes an array to the copy engine.
struct alignas(64) TensorMap { ulong words[16]; };
)"},
    {"ring_barriers", R"(__device__ inline void enc_barrier_init(int barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(count) : "memory");
}
__device__ inline void enc_barriers_ready() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void enc_prefetch(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" :: "l"(map) : "memory");
}
__device__ inline void enc_expect(int barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void enc_arrive(int barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}
__device__ inline void enc_wait(int barrier, int phase) {
  uint done;
  do {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(barrier), "r"(phase) : "memory");
  } while (!done);
}
)"},
    {"earlier_kernel",
     R"(// The next kernel of the stream may start now; the earlier one's writes are known from here on.
__device__ inline void enc_earlier_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
)"},
    {"named_barrier", R"(__device__ inline void enc_named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory");
}
)"},
    {"named_arrival", R"(__device__ inline void enc_named_arrival(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(threads) : "memory");
}
)"},
    {"set_registers", R"(template <int Registers, bool Grow>
__device__ inline void enc_set_registers() {
  if constexpr (Grow)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(Registers));
  else
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(Registers));
}
)"},
    {"async_fence", R"(__device__ inline void enc_async_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
)"},
    {"copy_out_wait", R"(template <int Pending>
__device__ inline void enc_copy_out_wait() {
  asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(Pending) : "memory");
}
)"},
    {"store_matrix",
     R"(// Four 8x8 matrices of 16-bit elements; `row`: of the matrix and row that this lane tells.
template <typename T>
__device__ inline void enc_store_matrix(T* row, const T* registers) {
  uint words[4];
  memcpy(words, registers, sizeof(words));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :: "r"(uint(__cvta_generic_to_shared(row))), "r"(words[0]), "r"(words[1]),
                  "r"(words[2]), "r"(words[3]) : "memory");
}
)"},
    {"wgmma", R"(__device__ inline void enc_wgmma_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void enc_wgmma_end() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending>
__device__ inline void enc_wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(Pending) : "memory");
}
// A matrix in shared memory: leading and stride in 16 bytes; swizzle 1, 2, 3 for 128, 64, 32 bytes.
template <int Leading, int Stride, int Swizzle>
__device__ inline ulong enc_matrix(int address) {
  return ulong(Swizzle) << 62 | ulong(Stride) << 32 | ulong(Leading) << 16 |
         ulong((address & 0x3FFFF) >> 4);
}
// The matrix that many bytes further: no carry leaves the address's bits.
__device__ inline ulong enc_moved(ulong matrix, int bytes) {
  return (matrix & 0xFFFFFFFF00000000) | ulong(uint(matrix) + uint(bytes >> 4));
}
)"},
};

}  // namespace

std::span<const Snippet> async_snippets() { return kAsyncSnippets; }

}  // namespace enceladus::cuda
