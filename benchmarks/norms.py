"""LayerNorm and RMSNorm of a float32 matrix, against memory bandwidth."""

import math

import numba
import numpy as np
import torch

import enceladus
from benchmarks.harness import Case, Report
from benchmarks.kernels import empty, example, random
from benchmarks.machine import copy_bandwidth


@numba.njit(parallel=True, fastmath=True)
def numba_layer_norm(x, weight, bias, out):
    columns = x.shape[1]
    for row in numba.prange(x.shape[0]):
        mean = x[row].sum() / np.float32(columns)
        variance = np.float32(0)
        for i in range(columns):
            variance += (x[row, i] - mean) ** 2
        scale = np.float32(1) / math.sqrt(variance / np.float32(columns) + np.float32(1e-5))
        for i in range(columns):
            out[row, i] = (x[row, i] - mean) * scale * weight[i] + bias[i]


@numba.njit(parallel=True, fastmath=True)
def numba_rms_norm(x, weight, out):
    columns = x.shape[1]
    for row in numba.prange(x.shape[0]):
        squares = np.float32(0)
        for i in range(columns):
            squares += x[row, i] * x[row, i]
        scale = np.float32(1) / math.sqrt(squares / np.float32(columns) + np.float32(1e-6))
        for i in range(columns):
            out[row, i] = x[row, i] * scale * weight[i]


def layer_norm_case(rows, columns):
    x, w, b = random(rows, columns), random(columns, seed=1), random(columns, seed=2)
    outs = {name: empty(rows, columns) for name in ("enceladus", "torch", "numba")}
    ours, block = outs["enceladus"].tensor, enceladus.next_power_of_2(columns)
    launch = example("03_layer_norm").layer_norm_kernel[(rows,)]

    def peer():
        outs["torch"].torch = torch.nn.functional.layer_norm(x.torch, (columns,), w.torch, b.torch)

    return Case(
        f"LayerNorm, {rows}x{columns} float32",
        {
            "enceladus": lambda: launch(
                x.tensor, w.tensor, b.tensor, ours, columns, columns, columns, 1e-5, BLOCK=block
            ),
            "torch layer_norm": peer,
            "numpy": lambda: example("03_layer_norm").reference(x.numpy, w.numpy, b.numpy),
            "numba prange": lambda: numba_layer_norm(
                x.numpy, w.numpy, b.numpy, outs["numba"].numpy
            ),
        },
        amount=8 * rows * columns,
        unit="GB/s",
        ceiling=copy_bandwidth(),
        results={
            "torch layer_norm": lambda: outs["torch"].torch.numpy(),
            "enceladus": lambda: outs["enceladus"].numpy,
        },
        tolerance=1e-5,
    )


def rms_norm_case(rows, columns):
    x, w = random(rows, columns), random(columns, seed=1)
    outs = {name: empty(rows, columns) for name in ("enceladus", "torch", "numba")}
    ours = outs["enceladus"].tensor
    block = min(2048, enceladus.next_power_of_2(columns))
    launch = example("06_rms_norm").rms_norm_kernel[(rows,)]

    def peer():
        outs["torch"].torch = torch.nn.functional.rms_norm(x.torch, (columns,), w.torch, 1e-6)

    return Case(
        f"RMSNorm, {rows}x{columns} float32",
        {
            "enceladus": lambda: launch(
                x.tensor, w.tensor, ours, columns, columns, columns, 1e-6, BLOCK=block
            ),
            "torch rms_norm": peer,
            "numba prange": lambda: numba_rms_norm(x.numpy, w.numpy, outs["numba"].numpy),
        },
        amount=8 * rows * columns,
        unit="GB/s",
        ceiling=copy_bandwidth(),
        results={
            "torch rms_norm": lambda: outs["torch"].torch.numpy(),
            "enceladus": lambda: outs["enceladus"].numpy,
        },
        tolerance=1e-5,
    )


def run(quick=False):
    report = Report("norms", quick)
    for shape in [(256, 1000)] if quick else [(4096, 4096), (4096, 1000)]:
        report.add(layer_norm_case(*shape))
        report.add(rms_norm_case(*shape))
    report.write()
