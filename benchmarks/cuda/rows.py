"""Workloads bound by memory: elementwise, softmax, norms, cumsum, histogram."""

import torch

import enceladus
from benchmarks.cuda.peers import compiled
from benchmarks.cuda.workload import Workload

F = torch.nn.functional


def warps(*counts):
    return [{"num_warps": count} for count in counts]


def half(dtype):
    return dtype == torch.float16


def tolerance(dtype):
    # Rounding of the result alone: 2^-11 for float16, sums of float32 otherwise.
    return 1e-3 if half(dtype) else 1e-5


def add(exponent, dtype):
    size, itemsize = 1 << exponent, dtype.itemsize

    def make():
        x, y = (torch.randn(size, device="cuda", dtype=dtype) for _ in range(2))
        return {"x": x, "y": y, "out": torch.empty_like(x)}

    return Workload(
        title=f"add 2^{exponent} {str(dtype)[6:]}",
        make=make,
        reference=lambda s: (
            s["x"].double() + s["y"].double() if size < 1 << 26 else s["x"] + s["y"]
        ),
        tolerance=tolerance(dtype),
        amount=3 * size * itemsize,
        unit="GB/s",
        set_bytes=3 * size * itemsize,
        kernel="add_kernel",
        bind=lambda s, c: ((s["x"], s["y"], s["out"], size), (enceladus.cdiv(size, c["BLOCK"]),)),
        configs=[
            {"BLOCK": block, "num_warps": count}
            for block, count in ((1024, 4), (2048, 4), (2048, 8), (4096, 8), (1024, 8), (4096, 4))
        ],
        peers={"torch.add": lambda s: torch.add(s["x"], s["y"], out=s["out"])},
    )


def row_work(name, kernel, rows, columns, dtype, inputs, call, reference, peers):
    """A row operation: one program a row. `inputs` names vectors besides x."""
    block = enceladus.next_power_of_2(columns)

    def make():
        made = {"x": torch.randn(rows, columns, device="cuda", dtype=dtype)}
        for vector in inputs:
            made[vector] = torch.randn(columns, device="cuda", dtype=dtype)
        return {**made, "out": torch.empty_like(made["x"])}

    counts = (4, 8, 16) if block <= 4096 else (8, 16, 32)
    return Workload(
        title=f"{name} {rows}x{columns} {str(dtype)[6:]}",
        make=make,
        reference=reference,
        tolerance=tolerance(dtype),
        amount=2 * rows * columns * dtype.itemsize,
        unit="GB/s",
        set_bytes=2 * rows * columns * dtype.itemsize,
        kernel=kernel,
        bind=lambda s, c: (call(s, columns), (rows,)),
        configs=[{"BLOCK": block, **option} for option in warps(*counts)],
        peers=peers,
    )


def softmax(rows, columns, dtype):
    def peer(x):
        return torch.softmax(x, 1)

    return row_work(
        "softmax", "softmax_kernel", rows, columns, dtype, (),
        lambda s, n: (s["x"], s["out"], n, n),
        lambda s: torch.softmax(s["x"].double(), 1),
        {
            "torch": lambda s: peer(s["x"]),
            "torch.compile": lambda s: compiled(peer)(s["x"]),
        },
    )  # fmt: skip


def layer_norm(rows, columns, dtype):
    def peer(x, w, b):
        return F.layer_norm(x, (columns,), w, b, 1e-5)

    return row_work(
        "LayerNorm", "layer_norm_kernel", rows, columns, dtype, ("w", "b"),
        lambda s, n: (s["x"], s["w"], s["b"], s["out"], n, n, 1e-5),
        lambda s: peer(s["x"].double(), s["w"].double(), s["b"].double()),
        {
            "torch": lambda s: peer(s["x"], s["w"], s["b"]),
            "torch.compile": lambda s: compiled(peer)(s["x"], s["w"], s["b"]),
        },
    )  # fmt: skip


def rms_norm(rows, columns, dtype):
    def peer(x, w):
        return F.rms_norm(x, (columns,), w, 1e-6)

    return row_work(
        "RMSNorm", "rms_norm_kernel", rows, columns, dtype, ("w",),
        lambda s, n: (s["x"], s["w"], s["out"], n, n, 1e-6),
        lambda s: peer(s["x"].double(), s["w"].double()),
        {
            "torch": lambda s: peer(s["x"], s["w"]),
            "torch.compile": lambda s: compiled(peer)(s["x"], s["w"]),
        },
    )  # fmt: skip


def cumsum(rows, columns):
    work = row_work(
        "cumsum", "cumsum_kernel", rows, columns, torch.float32, (),
        lambda s, n: (s["x"], s["out"], n, n),
        lambda s: torch.cumsum(s["x"].double(), 1),
        {"torch": lambda s: torch.cumsum(s["x"], 1)},
    )  # fmt: skip
    work.tolerance = 1e-5
    return work


def histogram(exponent, bins):
    size = 1 << exponent

    def make():
        x = torch.randint(0, bins, (size,), device="cuda", dtype=torch.int32)
        return {"x": x, "out": torch.empty(bins, device="cuda", dtype=torch.int32)}

    def bind(s, config):
        steps = config["_steps"]
        grid = (enceladus.cdiv(size, config["BLOCK"] * steps),)
        return (s["x"], s["out"], size, steps), grid

    counted = ((1024, 16, 4), (2048, 16, 8), (4096, 8, 8), (1024, 64, 4))
    # Programs that meet in few counts of device memory: one or two a processor.
    tallied = ((4096, 16, 16), (4096, 32, 16), (8192, 16, 32), (8192, 8, 32), (16384, 8, 32))

    def configs(sizes):
        return [
            {"BINS": bins, "BLOCK": block, "_steps": steps, "num_warps": count}
            for block, steps, count in sizes
        ]

    return Workload(
        title=f"histogram 2^{exponent} into {bins}",
        make=make,
        reference=lambda s: torch.bincount(s["x"], minlength=bins),
        tolerance=0,
        amount=4 * size,
        unit="GB/s",
        set_bytes=4 * size,
        kernel="histogram_kernel",
        bind=bind,
        configs=configs((*counted, *tallied)),
        triton_configs=configs((*counted, *tallied)),
        our_kernel="atomic_histogram_kernel",
        peers={"torch.histc": lambda s: torch.histc(s["x"].float(), bins, 0, bins)},
        before=lambda s: s["out"].zero_(),
    )


def workloads(quick):
    fp32, fp16 = torch.float32, torch.float16
    if quick:
        return [add(24, fp32), softmax(4096, 1000, fp16), cumsum(512, 1000), histogram(20, 64)]
    found = [add(28, fp32), add(28, fp16)]
    for dtype in (fp32, fp16):
        found += [softmax(4096, 4096, dtype), softmax(8192, 16384, dtype)]
        found += [layer_norm(4096, 4096, dtype), layer_norm(16384, 8192, dtype)]
        found += [rms_norm(16384, 8192, dtype)]
    return [*found, cumsum(4096, 4096), histogram(24, 64), histogram(24, 4096)]
