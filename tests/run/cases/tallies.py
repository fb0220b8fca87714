"""Many atomic additions to few places, which GPUs count in shared memory first."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import Case, generator, output

BLOCK, STEPS, PROGRAMS = 256, 6, 3
VALUES = PROGRAMS * STEPS * BLOCK


@enceladus.jit
def loop_kernel(x_ptr, counts_ptr, n, middle, steps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * steps * BLOCK
    for step in range(steps):
        offsets = start + step * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask, other=0)
        tl.atomic_add(counts_ptr + middle + x, 1, mask=mask)


@enceladus.jit
def weights_kernel(x_ptr, w_ptr, sums_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(sums_ptr + tl.load(x_ptr + offsets), tl.load(w_ptr + offsets))


@enceladus.jit
def watched_kernel(x_ptr, counts_ptr, seen_ptr, steps, BLOCK: tl.constexpr):
    for step in range(steps):
        x = tl.load(x_ptr + step * BLOCK + tl.arange(0, BLOCK))
        tl.atomic_add(counts_ptr + x, 1)
        tl.store(seen_ptr + step, tl.load(counts_ptr + 3))


@enceladus.jit
def twice_kernel(x_ptr, low_ptr, high_ptr, steps, BLOCK: tl.constexpr):
    for step in range(steps):
        x = tl.load(x_ptr + step * BLOCK + tl.arange(0, BLOCK))
        tl.atomic_add(low_ptr + x % 8, 1)
        tl.atomic_add(high_ptr + x // 8, 2, mask=x > 3)
        tl.atomic_add(low_ptr + 7 - x % 8, 1)


def values(low, high, dtype="int32", count=VALUES):
    return generator(f"tallies {low} {high} {dtype}").integers(low, high, count).astype(dtype)


def counted(x, size, middle=0, weights=None):
    sums = np.zeros(size, np.int64)
    np.add.at(sums, x.astype(np.int64) + middle, 1 if weights is None else weights)
    return sums


def loop_case(name, low, high, dtype="int32", num_warps=4):
    size = high - min(low, 0)
    return Case(
        name=f"counts of a loop, {name}",
        kernel=loop_kernel,
        grid=(PROGRAMS,),
        inputs=lambda: {
            "x_ptr": values(low, high, dtype),
            "counts_ptr": np.zeros(size, np.int32),
            "n": VALUES - 7,
            "middle": -min(low, 0),
            "steps": STEPS,
            "BLOCK": BLOCK,
        },
        expected=lambda a: {"counts_ptr": counted(a["x_ptr"][:-7], size, a["middle"])},
        num_warps=num_warps,
    )


WEIGHTS = Case(
    name="sums of large unsigned weights",
    kernel=weights_kernel,
    grid=(VALUES // 512,),
    inputs=lambda: {
        "x_ptr": values(0, 20, count=VALUES // 512 * 512),
        "w_ptr": values(0, 1 << 32, "uint32", VALUES // 512 * 512),
        "sums_ptr": np.zeros(20, np.uint32),
        "BLOCK": 512,
    },
    expected=lambda a: {
        "sums_ptr": counted(a["x_ptr"], 20, 0, a["w_ptr"].astype(np.int64)) % (1 << 32)
    },
)
WATCHED = Case(
    name="counts that the same loop reads",
    kernel=watched_kernel,
    grid=(1,),
    inputs=lambda: {
        "x_ptr": values(0, 5, count=STEPS * BLOCK),
        "counts_ptr": np.zeros(5, np.int32),
        "seen_ptr": output("int32", STEPS),
        "steps": STEPS,
        "BLOCK": BLOCK,
    },
    expected=lambda a: {
        "counts_ptr": counted(a["x_ptr"], 5),
        "seen_ptr": np.cumsum((a["x_ptr"].reshape(STEPS, BLOCK) == 3).sum(axis=1)),
    },
)
TWICE = Case(
    name="two arrays counted in one loop",
    kernel=twice_kernel,
    grid=(1,),
    inputs=lambda: {
        "x_ptr": values(0, 100, count=STEPS * BLOCK),
        "low_ptr": np.zeros(8, np.int32),
        "high_ptr": np.zeros(13, np.int32),
        "steps": STEPS,
        "BLOCK": BLOCK,
    },
    expected=lambda a: {
        "low_ptr": counted(a["x_ptr"] % 8, 8) + counted(7 - a["x_ptr"] % 8, 8),
        "high_ptr": 2 * counted(a["x_ptr"][a["x_ptr"] > 3] // 8, 13),
    },
)


def cases():
    return [
        loop_case("few", 0, 37),
        loop_case("few on one warp", 0, 5, num_warps=1),
        loop_case("more than a tally holds", 0, 9000, num_warps=8),
        loop_case("below the base", -50, 50),
        loop_case("by int64", 0, 300, "int64"),
        loop_case("by uint8", 0, 256, "uint8"),
        WEIGHTS,
        WATCHED,
        TWICE,
    ]
