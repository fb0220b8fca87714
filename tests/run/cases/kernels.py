"""Whole kernels as people write them: normalizations, attention, fused epilogues."""

import math

import numpy as np

import enceladus
import enceladus.language as tl

from .case import FLOATS, Case, Tolerance, numpy_type, output, plain, quiet, rounded


@enceladus.jit
def softmax_kernel(x_ptr, out_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    mask = places < columns
    x = tl.load(x_ptr + row * stride + places, mask=mask, other=float("-inf"))
    z = x.to(tl.float32) - tl.max(x, axis=0).to(tl.float32)
    numerator = tl.exp(z)
    result = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * stride + places, result, mask=mask)


@enceladus.jit
def builtin_softmax_kernel(x_ptr, out_ptr, DIM: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    places = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(out_ptr + places, tl.softmax(tl.load(x_ptr + places), dim=DIM))


@enceladus.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, n, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    mask = places < n
    x = tl.load(x_ptr + row * n + places, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n
    weight, bias = tl.load(weight_ptr + places, mask=mask), tl.load(bias_ptr + places, mask=mask)
    result = centered * tl.rsqrt(variance + epsilon) * weight + bias
    tl.store(out_ptr + row * n + places, result, mask=mask)


@enceladus.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    result = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + offsets, result, mask=offsets < n)


@enceladus.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    length,
    scale,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    start = tl.program_id(0) * BM
    q = tl.make_tensor_descriptor(q_ptr, [length, D], [D, 1], [BM, D])
    k = tl.make_tensor_descriptor(k_ptr, [length, D], [D, 1], [BN, D])
    v = tl.make_tensor_descriptor(v_ptr, [length, D], [D, 1], [BN, D])
    out = tl.make_tensor_descriptor(out_ptr, [length, D], [D, 1], [BM, D])
    queries = q.load([start, 0])
    rows = start + tl.arange(0, BM)
    largest = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = min(start + BM, length) if CAUSAL else length
    for first in range(0, end, BN):
        columns = first + tl.arange(0, BN)
        scores = tl.dot(queries, tl.trans(k.load([first, 0]))) * scale
        visible = columns[None, :] < length
        if CAUSAL:
            visible = visible & (columns[None, :] <= rows[:, None])
        scores = tl.where(visible, scores, float("-inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=1))
        correction = tl.exp2(largest - new_largest)
        weights = tl.exp2(scores - new_largest[:, None])
        total = total * correction + tl.sum(weights, axis=1)
        acc = acc * correction[:, None]
        acc = tl.dot(weights.to(v.dtype), v.load([first, 0]), acc)
        largest = new_largest
    out.store([start, 0], (acc / total[:, None]).to(out.dtype))


@enceladus.jit
def bias_gelu_matmul_kernel(
    a_ptr,
    b_ptr,
    bias_ptr,
    c_ptr,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    row, column = tl.program_id(1) * BM, tl.program_id(0) * BN
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([row, k]), b.load([k, column]), acc)
    columns = column + tl.arange(0, BN)
    acc += tl.load(bias_ptr + columns, mask=columns < N, other=0.0)[None, :]
    acc = acc * tl.sigmoid(1.702 * acc)
    c.store([row, column], acc.to(c.dtype))


@quiet
def softmax(x, axis=-1):
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def probability(name):
    """Values from 0 to 1: relative to the value, and to 1e-7 where exp is next to nothing."""
    return Tolerance(rounded(name).relative, 1e-7, why="softmax is a few roundings of exp")


def softmax_case(name, masked):
    def inputs():
        x = plain(name, 5, 100)
        if masked:
            x[0, 1:] = -np.inf
            x[1, ::2] = -np.inf
            x[2, :] = -np.inf
        out = np.ones_like(x)
        return {"x_ptr": x, "out_ptr": out, "columns": 90, "stride": 100, "BLOCK": 128}

    def expected(a):
        result = a["out_ptr"].astype(np.float64)
        result[:, :90] = softmax(a["x_ptr"][:, :90])
        return {"out_ptr": result}

    kind = "masked by -inf" if masked else "of rows"
    return Case(
        name=f"softmax {kind} {name}",
        kernel=softmax_kernel,
        grid=(5,),
        inputs=inputs,
        expected=expected,
        tolerance=probability(name),
    )


def builtin_softmax_case(name, dim):
    def inputs():
        x = plain(name, 8, 32)
        return {"x_ptr": x, "out_ptr": np.ones_like(x), "DIM": dim, "R": 8, "C": 32}

    return Case(
        name=f"tl.softmax {name} dim {dim}",
        kernel=builtin_softmax_kernel,
        grid=(1,),
        inputs=inputs,
        expected=lambda a: {"out_ptr": softmax(a["x_ptr"], 0 if dim is None else dim)},
        tolerance=probability(name),
    )


def layer_norm_case(name):
    n = 200

    def inputs():
        return {
            "x_ptr": plain(name, 6, n),
            "weight_ptr": plain("float32", n, seed="weight"),
            "bias_ptr": plain("float32", n, seed="bias"),
            "out_ptr": np.ones((6, n), numpy_type(name)),
            "n": n,
            "epsilon": 1e-5,
            "BLOCK": 256,
        }

    def expected(a):
        x = a["x_ptr"].astype(np.float64)
        centered = x - x.mean(axis=1, keepdims=True)
        scale = 1 / np.sqrt((centered**2).mean(axis=1, keepdims=True) + 1e-5)
        return {"out_ptr": centered * scale * a["weight_ptr"] + a["bias_ptr"]}

    return Case(
        name=f"layer norm {name}",
        kernel=layer_norm_kernel,
        grid=(6,),
        inputs=inputs,
        expected=expected,
        tolerance=rounded(name, 4.0),
    )


def gelu_case(name):
    def inputs():
        return {"x_ptr": plain(name, 1000), "out_ptr": output(name, 1000), "n": 1000, "BLOCK": 256}

    def expected(a):
        x = a["x_ptr"].astype(np.float64)
        return {"out_ptr": 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))}

    # 1 + erf cancels for negative x, where an error of float16's erf is as large as the result.
    return Case(
        name=f"gelu {name}",
        kernel=gelu_kernel,
        grid=(4,),
        inputs=inputs,
        expected=expected,
        tolerance=rounded(name, 4.0),
    )


def attention_case(name, causal, length, num_warps):
    depth = 32
    scale = 1 / math.sqrt(depth)

    def inputs():
        parts = {f"{part}_ptr": plain(name, length, depth, seed=part, scale=1.0) for part in "qkv"}
        return {
            **parts,
            "out_ptr": np.ones((length, depth), numpy_type(name)),
            "length": length,
            "scale": scale * math.log2(math.e),
            "CAUSAL": causal,
            "D": depth,
            "BM": 32,
            "BN": 16,
        }

    @quiet
    def expected(a):
        q, k, v = (a[f"{part}_ptr"].astype(np.float64) for part in "qkv")
        scores = q @ k.T * scale
        if causal:
            scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
        return {"out_ptr": softmax(scores) @ v}

    return Case(
        name=f"attention {name} of {length}" + (" causal" if causal else ""),
        kernel=attention_kernel,
        grid=(-(-length // 32),),
        inputs=inputs,
        expected=expected,
        tolerance=rounded(name, 2.0),
        num_warps=num_warps,
    )


def bias_gelu_case(name):
    m, n, k = 50, 70, 40

    def inputs():
        return {
            "a_ptr": plain(name, m, k, seed="a", scale=0.5),
            "b_ptr": plain(name, k, n, seed="b", scale=0.5),
            "bias_ptr": plain(name, n, seed="bias"),
            "c_ptr": np.ones((m, n), numpy_type(name)),
            "M": m,
            "N": n,
            "K": k,
            "BM": 32,
            "BN": 32,
            "BK": 16,
        }

    def expected(a):
        parts = (a[f"{part}_ptr"].astype(np.float64) for part in ("a", "b", "bias"))
        left, right, bias = parts
        total = left @ right + bias
        return {"c_ptr": total / (1 + np.exp(-1.702 * total))}

    return Case(
        name=f"matmul with bias and gelu {name}",
        kernel=bias_gelu_matmul_kernel,
        grid=(3, 2),
        inputs=inputs,
        expected=expected,
        tolerance=rounded(name, 6.0),
    )


def cases():
    halves = ("float32", "float16", "bfloat16")
    return [
        *(softmax_case(name, masked) for name in FLOATS[:3] for masked in (False, True)),
        *(builtin_softmax_case(name, dim) for name in halves for dim in (None, 1)),
        *(layer_norm_case(name) for name in halves),
        *(gelu_case(name) for name in halves),
        attention_case("float32", False, 64, 4),
        attention_case("float32", True, 100, 8),
        attention_case("float16", True, 77, 1),
        attention_case("bfloat16", False, 40, 4),
        *(bias_gelu_case(name) for name in halves),
    ]
