"""Products of bytes, whose second operand lies by columns as matrix units take them."""

import torch

import enceladus.language as tl
from benchmarks.cuda.products import matmul_tiles, tile_configs, tile_grid, triton_configs
from benchmarks.cuda.workload import Workload

# As in products.py.
MORE_TILES = ((256, 128, 128, 8, 3),)


def operands(m, n, k, dtype):
    if dtype == torch.int8:
        a, b = (
            torch.randint(-128, 128, shape, device="cuda", dtype=dtype)
            for shape in ((m, k), (n, k))
        )
        out = torch.empty(m, n, device="cuda", dtype=torch.int32)
    else:
        a, b = (torch.randn(*shape, device="cuda").to(dtype) for shape in ((m, k), (n, k)))
        out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    return {"a": a, "b": b, "one": torch.ones((), device="cuda"), "out": out}


def product(s):
    if s["a"].dtype == torch.int8:
        return torch._int_mm(s["a"], s["b"].T)
    return s["a"].float() @ s["b"].float().T


def cublas(s):
    if s["a"].dtype == torch.int8:
        return torch._int_mm(s["a"], s["b"].T)
    return torch._scaled_mm(
        s["a"], s["b"].T, s["one"], s["one"], out_dtype=torch.bfloat16, use_fast_accum=True
    )


def matmul(m, n, k, dtype):
    is_int = dtype == torch.int8
    accumulator = "int32" if is_int else "float32"
    name = str(dtype).removeprefix("torch.")
    tiles = matmul_tiles(name, MORE_TILES)
    return Workload(
        title=f"matmul {m}x{n}x{k} {name}, b by columns",
        make=lambda: operands(m, n, k, dtype),
        reference=product,
        # The units sum floats of 8 bits with about 14 bits, and all contenders by them.
        tolerance=0 if is_int else 4e-3,
        amount=2.0 * m * n * k,
        unit="TFLOP/s",
        set_bytes=m * k + k * n + (4 if is_int else 2) * m * n,
        kernel="columns_matmul_kernel",
        bind=lambda s, c: ((s["a"], s["b"], s["out"], m, n, k), tile_grid(m, n, c)),
        configs=tile_configs(tiles, ACC=getattr(tl, accumulator)),
        triton_configs=triton_configs(tiles, accumulator),
        peers={"cuBLAS": cublas},
    )


def workloads(quick):
    size = 1024 if quick else 8192
    return [matmul(size, size, size, dtype) for dtype in (torch.float8_e4m3fn, torch.int8)]
