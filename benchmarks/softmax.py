"""Row softmax of a float32 matrix, against memory bandwidth."""

import math

import numba
import numpy as np
import torch

import enceladus
from benchmarks.harness import Case, Report
from benchmarks.kernels import empty, example, random
from benchmarks.machine import copy_bandwidth


@numba.njit(parallel=True, fastmath=True)
def numba_softmax(x, out):
    for row in numba.prange(x.shape[0]):
        largest = x[row].max()
        total = np.float32(0)
        for i in range(x.shape[1]):
            out[row, i] = math.exp(x[row, i] - largest)
            total += out[row, i]
        for i in range(x.shape[1]):
            out[row, i] /= total


def case(rows, columns):
    x = random(rows, columns)
    outs = {name: empty(rows, columns) for name in ("enceladus", "torch", "numba")}
    ours = outs["enceladus"].tensor
    launch = example("02_softmax").softmax_kernel[(rows,)]
    block = enceladus.next_power_of_2(columns)
    return Case(
        f"softmax, {rows}x{columns} float32",
        {
            "enceladus": lambda: launch(x.tensor, ours, columns, columns, columns, BLOCK=block),
            "torch.softmax(out=)": lambda: torch.softmax(x.torch, 1, out=outs["torch"].torch),
            "numpy": lambda: example("02_softmax").reference(x.numpy),
            "numba prange": lambda: numba_softmax(x.numpy, outs["numba"].numpy),
        },
        amount=8 * rows * columns,
        unit="GB/s",
        ceiling=copy_bandwidth(),
        results={
            "torch.softmax(out=)": lambda: outs["torch"].numpy,
            "enceladus": lambda: outs["enceladus"].numpy,
        },
        tolerance=1e-6,
    )


def run(quick=False):
    report = Report("softmax", quick)
    for shape in [(256, 1000)] if quick else [(4096, 4096), (4096, 1000), (128, 32768)]:
        report.add(case(*shape))
    report.write()
