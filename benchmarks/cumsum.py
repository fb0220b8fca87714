"""Cumulative sums of float32 rows, against memory bandwidth."""

import numba
import numpy as np
import torch

import enceladus
from benchmarks.harness import Case, Report
from benchmarks.kernels import empty, example, random
from benchmarks.machine import copy_bandwidth


@numba.njit(parallel=True, fastmath=True)
def numba_cumsum(x, out):
    for row in numba.prange(x.shape[0]):
        total = np.float32(0)
        for i in range(x.shape[1]):
            total += x[row, i]
            out[row, i] = total


def case(rows, columns):
    x = random(rows, columns)
    outs = {name: empty(rows, columns) for name in ("enceladus", "torch", "numpy", "numba")}
    ours, block = outs["enceladus"].tensor, min(1024, enceladus.next_power_of_2(columns))
    launch = example("10_cumsum").cumsum_kernel[(rows,)]
    return Case(
        f"cumsum, {rows}x{columns} float32",
        {
            "enceladus": lambda: launch(x.tensor, ours, columns, columns, columns, BLOCK=block),
            "torch.cumsum(out=)": lambda: torch.cumsum(x.torch, 1, out=outs["torch"].torch),
            "numpy.cumsum(out=)": lambda: np.cumsum(x.numpy, 1, out=outs["numpy"].numpy),
            "numba prange": lambda: numba_cumsum(x.numpy, outs["numba"].numpy),
        },
        amount=8 * rows * columns,
        unit="GB/s",
        ceiling=copy_bandwidth(),
        results={
            "torch.cumsum(out=)": lambda: outs["torch"].numpy,
            "enceladus": lambda: outs["enceladus"].numpy,
        },
        tolerance=1e-4,
    )


def run(quick=False):
    report = Report("cumsum", quick)
    for shape in [(64, 1000)] if quick else [(4096, 4096), (16, 1 << 20)]:
        report.add(case(*shape))
    report.write()
