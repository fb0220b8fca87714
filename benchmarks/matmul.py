"""Matrix multiplication in several dtypes, tuned, against the multiply-add rate."""

import numpy as np
import torch

import enceladus
import enceladus.language as tl
from benchmarks.harness import Case, Report
from benchmarks.kernels import empty, example, random
from benchmarks.machine import multiply_add_rate
from enceladus.configs import matmul_configs


@enceladus.autotune(configs=matmul_configs("int8"), key=["M", "N", "K"])
@enceladus.jit
def int8_kernel(
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
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([pid_m * BM, k]), b.load([k, pid_n * BN]), acc)
    c.store([pid_m * BM, pid_n * BN], acc)


def grid_of(m, n):
    return lambda meta: (enceladus.cdiv(n, meta["BN"]), enceladus.cdiv(m, meta["BM"]))


def float32_case(m, n, k):
    a, b = random(m, k), random(k, n, seed=1)
    outs = {name: empty(m, n) for name in ("descriptor", "pointer", "torch", "numpy")}
    module, grid = example("04_matmul"), grid_of(m, n)
    descriptor, pointer = module.descriptor_kernel[grid], module.pointer_kernel[grid]
    first, second = outs["descriptor"].tensor, outs["pointer"].tensor
    return Case(
        f"matmul, {m}x{n}x{k} float32",
        {
            "enceladus": lambda: descriptor(a.tensor, b.tensor, first, m, n, k, k, n, n),
            "enceladus, pointers": lambda: pointer(
                a.tensor, b.tensor, second, m, n, k, k, 1, n, 1, n
            ),
            "torch.mm(out=)": lambda: torch.mm(a.torch, b.torch, out=outs["torch"].torch),
            "numpy.matmul(out=)": lambda: np.matmul(a.numpy, b.numpy, out=outs["numpy"].numpy),
        },
        amount=2 * m * n * k,
        unit="GFLOP/s",
        ceiling=multiply_add_rate(),
        results={
            "torch.mm(out=)": lambda: outs["torch"].numpy,
            "enceladus": lambda: outs["descriptor"].numpy,
            "enceladus, pointers": lambda: outs["pointer"].numpy,
        },
        tolerance=1e-5,
    )


def half_case(size, name):
    dtype = getattr(torch, name)
    a, b = (random(size, size, seed=seed).torch.to(dtype) for seed in (0, 1))
    tensors = [enceladus.from_dlpack(x) for x in (a, b)]
    out, peer = enceladus.empty((size, size), dtype=name), torch.empty(size, size, dtype=dtype)
    launch = example("04_matmul").descriptor_kernel[grid_of(size, size)]
    return Case(
        f"matmul, {size}^3 {name}",
        {
            "enceladus": lambda: launch(*tensors, out, size, size, size, size, size, size),
            "torch.mm(out=)": lambda: torch.mm(a, b, out=peer),
        },
        amount=2 * size**3,
        unit="GFLOP/s",
        ceiling=multiply_add_rate(),
        results={
            "torch.mm(out=)": lambda: peer.float().numpy(),
            "enceladus": lambda: out.numpy().astype(np.float32),
        },
        tolerance=2e-2,
    )


def int8_case(size):
    generator = np.random.default_rng(0)
    a, b = generator.integers(-128, 128, (2, size, size), np.int8)
    tensors = [enceladus.from_numpy(x) for x in (a, b)]
    out, peer = empty(size, size, dtype=np.int32), {}
    torch_a, torch_b = torch.from_numpy(a), torch.from_numpy(b)
    launch = int8_kernel[grid_of(size, size)]

    def int_mm():
        peer["out"] = torch._int_mm(torch_a, torch_b)

    return Case(
        f"matmul, {size}^3 int8 to int32",
        {
            "enceladus": lambda: launch(*tensors, out.tensor, size, size, size),
            "torch._int_mm": int_mm,
        },
        amount=2 * size**3,
        unit="GFLOP/s",
        ceiling=multiply_add_rate(),
        results={
            "torch._int_mm": lambda: peer["out"].numpy(),
            "enceladus": lambda: out.numpy,
        },
        tolerance=0,
    )


def run(quick=False):
    report = Report("matmul", quick)
    shapes = [(100, 90, 80)] if quick else [(1024,) * 3, (512,) * 3, (2048,) * 3, (1000, 777, 300)]
    for shape in shapes:
        report.add(float32_case(*shape))
    size = 128 if quick else 1024
    for name in ("bfloat16", "float16"):
        report.add(half_case(size, name))
    report.add(int8_case(size))
    report.write()
