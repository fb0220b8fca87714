"""Flash attention: scores of one block of keys at a time, so the whole matrix never exists.

Each row keeps a running maximum and a running sum; when a block raises the maximum, what was
summed so far is scaled down. `exp2` with log2(e) folded into the scale replaces `exp`.
"""

import argparse
import math

import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.configs import attention_configs
from enceladus.testing import assert_close

LOG2_E = math.log2(math.e)


@enceladus.autotune(configs=attention_configs("float32", 64), key=["S", "D", "CAUSAL"])
@enceladus.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    S,
    D,
    scale_log2,
    CAUSAL: tl.constexpr,
    BD: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    start_m = tl.program_id(0) * BM
    base = tl.program_id(1) * S * D
    q_desc = tl.make_tensor_descriptor(q_ptr + base, [S, D], [D, 1], [BM, BD])
    k_desc = tl.make_tensor_descriptor(k_ptr + base, [S, D], [D, 1], [BN, BD])
    v_desc = tl.make_tensor_descriptor(v_ptr + base, [S, D], [D, 1], [BN, BD])
    out_desc = tl.make_tensor_descriptor(out_ptr + base, [S, D], [D, 1], [BM, BD])
    q = q_desc.load([start_m, 0])
    rows = start_m + tl.arange(0, BM)
    largest = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, BD), dtype=tl.float32)
    end = min(start_m + BM, S) if CAUSAL else S
    for start_n in range(0, end, BN):
        scores = tl.dot(q, tl.trans(k_desc.load([start_n, 0]))) * scale_log2
        columns = start_n + tl.arange(0, BN)
        visible = columns[None, :] < S
        if CAUSAL:
            visible = visible & (columns[None, :] <= rows[:, None])
        scores = tl.where(visible, scores, -float("inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp2(scores - new_largest[:, None])
        shrink = tl.exp2(largest - new_largest)
        total = total * shrink + tl.sum(weights, axis=1)
        v = v_desc.load([start_n, 0])
        acc = tl.dot(weights.to(v.dtype), v, acc * shrink[:, None])
        largest = new_largest
    out_desc.store([start_m, 0], (acc / total[:, None]).to(out_desc.dtype))


def attention(q, k, v, causal=False):
    """`softmax(q @ k.T / sqrt(D)) @ v` for contiguous `(batch, heads, S, D)`.

    Args:
        q: queries.
        k: keys.
        v: values.
        causal: whether a row sees only itself and the rows before it.
    """
    batch, heads, length, width = q.shape
    out = enceladus.new_empty(q)
    scale = LOG2_E / math.sqrt(width)
    block = max(16, enceladus.next_power_of_2(width))
    grid = lambda meta: (enceladus.cdiv(length, meta["BM"]), batch * heads)
    attention_kernel[grid](q, k, v, out, length, width, scale, CAUSAL=causal, BD=block)
    return out


def reference(q, k, v, causal=False):
    """The same with NumPy."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(q.shape[-2], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True) @ v).astype(np.float32)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heads", type=int, default=2)
    parser.add_argument("--length", type=int, default=333)
    parser.add_argument("--width", type=int, default=64)
    options = parser.parse_args(arguments)
    shape = (3, 1, options.heads, options.length, options.width)
    q, k, v = np.random.default_rng(0).standard_normal(shape, np.float32)
    for causal in (False, True):
        assert_close(attention(q, k, v, causal), reference(q, k, v, causal))
        kind = "causal" if causal else "full"
        print(f"flash attention ({kind}): {options.length}x{options.width} agrees with NumPy")


if __name__ == "__main__":
    main()
