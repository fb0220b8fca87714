"""The kernels that are measured. The text is ours and, with the imports exchanged, Triton's: see
`peers.triton_kernels`."""

import enceladus
import enceladus.language as tl


@enceladus.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@enceladus.jit
def softmax_kernel(x_ptr, out_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    result = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * stride + offsets, result, mask=mask)


@enceladus.jit
def layer_norm_kernel(x_ptr, w_ptr, b_ptr, out_ptr, columns, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    weight = tl.load(w_ptr + offsets, mask=mask).to(tl.float32)
    bias = tl.load(b_ptr + offsets, mask=mask).to(tl.float32)
    result = centred * tl.rsqrt(variance + eps) * weight + bias
    tl.store(out_ptr + row * stride + offsets, result, mask=mask)


@enceladus.jit
def rms_norm_kernel(x_ptr, w_ptr, out_ptr, columns, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + eps)
    weight = tl.load(w_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * stride + offsets, x * scale * weight, mask=mask)


@enceladus.jit
def cumsum_kernel(x_ptr, out_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + row * stride + offsets, tl.cumsum(x, axis=0), mask=mask)


@enceladus.jit
def atomic_histogram_kernel(x_ptr, out_ptr, n, steps, BINS: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0) * steps * BLOCK
    for step in range(steps):
        offsets = start + step * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.atomic_add(out_ptr + tl.load(x_ptr + offsets, mask=mask, other=0), 1, mask=mask)


@enceladus.jit
def histogram_kernel(x_ptr, out_ptr, n, steps, BINS: tl.constexpr, BLOCK: tl.constexpr):
    counts = tl.zeros((BINS,), dtype=tl.int32)
    start = tl.program_id(0) * steps * BLOCK
    for step in range(steps):
        offsets = start + step * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        counts += tl.histogram(tl.load(x_ptr + offsets, mask=mask, other=0), BINS, mask=mask)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


@enceladus.jit
def start_of_tile(M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """Row and column of this program's tile. Programs go down GROUP tiles, then one to the right,
    so that those which run together find rows of a and columns of b in the cache."""
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    first = pid // (GROUP * tiles_n) * GROUP
    rows = min(tiles_m - first, GROUP)
    inside = pid % (GROUP * tiles_n)
    start_m = (first + inside % rows) * BM
    start_n = inside // rows * BN
    return start_m, start_n


@enceladus.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    ACC: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    start_m, start_n = start_of_tile(M, N, BM, BN, GROUP)
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([start_m, k]), b.load([k, start_n]), acc, out_dtype=ACC)
    c.store([start_m, start_n], acc.to(c.dtype))


@enceladus.jit
def columns_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    ACC: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    start_m, start_n = start_of_tile(M, N, BM, BN, GROUP)
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([start_m, k]), b.load([start_n, k]).T, acc, out_dtype=ACC)
    c.store([start_m, start_n], acc.to(c.dtype))


@enceladus.jit
def pointer_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (inner[None, :] + k < K), other=0.0)
        b = tl.load(b_ptrs, mask=(inner[:, None] + k < K) & (columns[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK
        b_ptrs += BK * N
    c_ptrs = c_ptr + rows[:, None] * N + columns[None, :]
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask)


@enceladus.jit
def bias_gelu_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    bias_ptr,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    start_m, start_n = start_of_tile(M, N, BM, BN, GROUP)
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([start_m, k]), b.load([k, start_n]), acc)
    columns = start_n + tl.arange(0, BN)
    x = acc + tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    # GELU by its tanh form, as tanh(u) = 2 sigmoid(2 u) - 1.
    inner = x * (1.5957691216 + 0.0713548162726 * x * x)
    c.store([start_m, start_n], (x * tl.sigmoid(inner)).to(c.dtype))


# With the device's short functions, as the library's epilogue has them.
short_bias_gelu_kernel = enceladus.jit(bias_gelu_kernel.fn, math_mode="fast")


@enceladus.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    S,
    scale_log2,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    start_m = tl.program_id(0) * BM
    base = tl.program_id(1) * S * D
    q_desc = tl.make_tensor_descriptor(q_ptr + base, [S, D], [D, 1], [BM, D])
    k_desc = tl.make_tensor_descriptor(k_ptr + base, [S, D], [D, 1], [BN, D])
    v_desc = tl.make_tensor_descriptor(v_ptr + base, [S, D], [D, 1], [BN, D])
    out_desc = tl.make_tensor_descriptor(out_ptr + base, [S, D], [D, 1], [BM, D])
    q = q_desc.load([start_m, 0])
    rows = start_m + tl.arange(0, BM)
    largest = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    end = min(start_m + BM, S) if CAUSAL else S
    for start_n in range(0, end, BN):
        scores = tl.dot(q, tl.trans(k_desc.load([start_n, 0])))
        if CAUSAL:
            columns = start_n + tl.arange(0, BN)
            scores = tl.where(columns[None, :] <= rows[:, None], scores, -float("inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=1) * scale_log2)
        weights = tl.exp2(scores * scale_log2 - new_largest[:, None])
        shrink = tl.exp2(largest - new_largest)
        total = total * shrink + tl.sum(weights, axis=1)
        v = v_desc.load([start_n, 0])
        acc = tl.dot(weights.to(v.dtype), v, acc * shrink[:, None])
        largest = new_largest
    out_desc.store([start_m, 0], (acc / total[:, None]).to(out_desc.dtype))
