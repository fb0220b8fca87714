"""Histograms of int32 values with atomics, against memory bandwidth."""

import numba
import numpy as np
import torch

import enceladus
from benchmarks.harness import Case, Report
from benchmarks.kernels import Arrays, empty, example
from benchmarks.machine import copy_bandwidth


@numba.njit
def numba_histogram(values, counts):
    counts[:] = 0
    for i in range(values.size):
        counts[values[i]] += 1


def case(size, bins):
    values = Arrays(np.random.default_rng(0).integers(0, bins, size, np.int32))
    ours, other, peers = empty(bins, dtype=np.int32), empty(bins, dtype=np.int32), {}
    launch = example("09_histogram").histogram_kernel[(enceladus.cdiv(size, 1024),)]

    def count():
        ours.tensor.fill_(0)
        launch(values.tensor, ours.tensor, size, bins, BLOCK=1024)

    def bincount():
        peers["torch"] = torch.bincount(values.torch, minlength=bins)

    return Case(
        f"histogram, {size} values, {bins} bins",
        {
            "enceladus": count,
            "torch.bincount": bincount,
            "numpy.bincount": lambda: np.bincount(values.numpy, minlength=bins),
            "numba, one thread": lambda: numba_histogram(values.numpy, other.numpy),
        },
        amount=4 * size,
        unit="GB/s",
        ceiling=copy_bandwidth(),
        results={
            "torch.bincount": lambda: peers["torch"].numpy(),
            "enceladus": lambda: ours.numpy,
        },
        tolerance=0,
    )


def run(quick=False):
    report = Report("histogram", quick)
    for bins in (256, 1 << 16):
        report.add(case(10_000 if quick else 1 << 24, bins))
    report.write()
