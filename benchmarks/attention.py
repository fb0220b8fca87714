"""Flash attention, causal and not, against PyTorch's own and the multiply-add rate."""

import math

import torch

import enceladus
from benchmarks.harness import Case, Report
from benchmarks.kernels import empty, example, random
from benchmarks.machine import multiply_add_rate


def case(heads, length, width, causal):
    q, k, v = (random(1, heads, length, width, seed=seed) for seed in range(3))
    ours, peers = empty(1, heads, length, width), {}
    module = example("08_flash_attention")
    launch = module.attention_kernel[lambda meta: (enceladus.cdiv(length, meta["BM"]), heads)]
    scale = module.LOG2_E / math.sqrt(width)

    def flash():
        peers["flash"] = torch.nn.functional.scaled_dot_product_attention(
            q.torch, k.torch, v.torch, is_causal=causal
        )

    def unfused():
        scores = q.torch @ k.torch.transpose(-1, -2) / math.sqrt(width)
        if causal:
            scores = scores.masked_fill(~torch.ones(length, length).tril().bool(), -math.inf)
        peers["unfused"] = torch.softmax(scores, -1) @ v.torch

    return Case(
        f"attention{', causal' if causal else ''}: {heads} heads, {length}x{width} float32",
        {
            "enceladus": lambda: launch(
                q.tensor,
                k.tensor,
                v.tensor,
                ours.tensor,
                length,
                width,
                scale,
                CAUSAL=causal,
                BD=width,
            ),
            "torch scaled_dot_product_attention": flash,
            "torch, unfused": unfused,
        },
        amount=4 * heads * length * length * width * (0.5 if causal else 1),
        unit="GFLOP/s",
        ceiling=multiply_add_rate(),
        results={
            "torch scaled_dot_product_attention": lambda: peers["flash"].numpy(),
            "enceladus": lambda: ours.numpy,
        },
        tolerance=1e-5,
    )


def run(quick=False):
    report = Report("attention", quick)
    for causal in (False, True):
        report.add(case(2, 200, 32, causal) if quick else case(8, 2048, 64, causal))
    report.write()
