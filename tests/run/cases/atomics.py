"""Atomic operations, alone, between programs, and at one address within a tile."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import Case, generator, numpy_type, output, plain, rounded, wide

N, BLOCK = 300, 128
GRID = (3,)


@enceladus.jit
def apply(pointers, value, mask, OP: tl.constexpr):
    if OP == "add":
        old = tl.atomic_add(pointers, value, mask=mask)
    elif OP == "max":
        old = tl.atomic_max(pointers, value, mask=mask)
    elif OP == "min":
        old = tl.atomic_min(pointers, value, mask=mask)
    elif OP == "and":
        old = tl.atomic_and(pointers, value, mask=mask)
    elif OP == "or":
        old = tl.atomic_or(pointers, value, mask=mask)
    elif OP == "xor":
        old = tl.atomic_xor(pointers, value, mask=mask, sem="relaxed")
    else:
        old = tl.atomic_xchg(pointers, value, mask=mask, sem="acq_rel", scope="gpu")
    return old


@enceladus.jit
def each_kernel(x_ptr, out_ptr, old_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    mask = inside & (offsets % 3 != 1)
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(old_ptr + offsets, apply(out_ptr + offsets, x, mask, OP), mask=inside)


@enceladus.jit
def together_kernel(x_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    apply(out_ptr + offsets % 4, x, mask, OP)


@enceladus.jit
def histogram_kernel(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    bins = tl.load(x_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(counts_ptr + bins, 1, mask=mask)


@enceladus.jit
def ticket_kernel(counter_ptr, out_ptr):
    ticket = tl.atomic_add(counter_ptr, 1)
    tl.store(out_ptr + ticket, ticket * ticket)


@enceladus.jit
def swap_kernel(x_ptr, cmp_ptr, val_ptr, old_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    cmp, val = tl.load(cmp_ptr + offsets), tl.load(val_ptr + offsets)
    tl.store(old_ptr + offsets, tl.atomic_cas(x_ptr + offsets, cmp, val))


@enceladus.jit
def lock_kernel(lock_ptr, total_ptr, x_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr, tl.load(total_ptr, volatile=True) + tl.load(x_ptr + tl.program_id(0)))
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


FUNCTIONS = {
    "add": np.add,
    "max": np.fmax,
    "min": np.fmin,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "xchg": lambda old, new: new,
}


def combined(op, old, new):
    with np.errstate(all="ignore"):
        return np.asarray(FUNCTIONS[op](wide(old), wide(new))).astype(old.dtype)


def each_case(op, name, num_warps):
    def inputs():
        x, out = plain(name, N, seed="x"), plain(name, N + 32, seed="out")
        if numpy_type(name).kind not in "iu":
            x[::7] = np.nan
            out[::14] = np.nan
        old = output(name, N)
        return {"x_ptr": x, "out_ptr": out, "old_ptr": old, "n": N, "OP": op, "BLOCK": BLOCK}

    def expected(a):
        out, active = a["out_ptr"].copy(), np.flatnonzero(np.arange(N) % 3 != 1)
        old = np.zeros(N, out.dtype)
        old[active] = out[active]
        out[active] = combined(op, out[active], a["x_ptr"][active])
        return {"out_ptr": out, "old_ptr": old}

    return Case(
        name=f"atomic {op} {name}",
        kernel=each_kernel,
        grid=GRID,
        inputs=inputs,
        expected=expected,
        num_warps=num_warps,
    )


def together_case(op, name, num_warps):
    def inputs():
        x = plain(name, N)
        return {"x_ptr": x, "out_ptr": output(name, 4), "n": N, "OP": op, "BLOCK": BLOCK}

    def expected(a):
        exact = (
            np.float64 if op == "add" and numpy_type(name).kind not in "iu" else numpy_type(name)
        )
        out = a["out_ptr"][:4].astype(exact)
        for i, value in enumerate(a["x_ptr"].astype(exact)):
            out[i % 4] = combined(op, out[i % 4 : i % 4 + 1], value.reshape(1))[0]
        return {"out_ptr": out}

    # 75 additions at each address, each rounding a sum of size about 20.
    size = {"float16": 100.0, "bfloat16": 100.0}.get(name, 20.0)
    return Case(
        name=f"atomic {op} {name} of many elements at one address",
        kernel=together_kernel,
        grid=GRID,
        inputs=inputs,
        expected=expected,
        tolerance=rounded(name, size) if op == "add" else rounded("int32"),
        num_warps=num_warps,
    )


def swap_case(name):
    def inputs():
        x, cmp = plain(name, 64, seed="x"), plain(name, 64, seed="x")
        cmp[::2] = plain(name, 64, seed="other")[::2]
        val = plain(name, 64, seed="val")
        if numpy_type(name).kind not in "iu":
            # Bits are compared: a NaN equals itself, and 0.0 is not -0.0.
            x[:4], cmp[:4] = [np.nan, 0.0, -0.0, 0.0], [np.nan, -0.0, -0.0, 0.0]
        old = np.ones_like(x)
        return {"x_ptr": x, "cmp_ptr": cmp, "val_ptr": val, "old_ptr": old, "BLOCK": 64}

    def expected(a):
        bits = f"u{a['x_ptr'].itemsize}"
        same = a["x_ptr"].view(bits) == a["cmp_ptr"].view(bits)
        return {"x_ptr": np.where(same, a["val_ptr"], a["x_ptr"]), "old_ptr": a["x_ptr"]}

    return Case(f"atomic cas {name}", swap_kernel, (1,), inputs, expected, signed_zeros=True)


HISTOGRAM = Case(
    name="histogram of many programs",
    kernel=histogram_kernel,
    grid=(40,),
    inputs=lambda: {
        "x_ptr": generator("histogram").integers(0, 16, 5000).astype(np.int32),
        "counts_ptr": np.zeros(16, np.int32),
        "n": 5000,
        "BLOCK": 128,
    },
    expected=lambda a: {"counts_ptr": np.bincount(a["x_ptr"], minlength=16)},
)
TICKETS = Case(
    name="each program draws another ticket",
    kernel=ticket_kernel,
    grid=(50,),
    inputs=lambda: {"counter_ptr": np.zeros(1, np.int32), "out_ptr": output("int32", 50)},
    expected=lambda a: {"counter_ptr": np.array([50]), "out_ptr": np.arange(50) ** 2},
)
LOCK = Case(
    name="a lock of cas and xchg",
    kernel=lock_kernel,
    grid=(64,),
    inputs=lambda: {
        "lock_ptr": np.zeros(1, np.int32),
        "total_ptr": np.zeros(1, np.int64),
        "x_ptr": plain("int32", 64),
    },
    expected=lambda a: {"total_ptr": a["x_ptr"].sum(keepdims=True, dtype=np.int64)},
)


def cases():
    warps = (1, 4, 8)
    numbers = ("int32", "uint32", "int64", "uint64", "float32", "float64")
    rows = [(op, name) for op in ("add", "max", "min", "xchg") for name in numbers]
    rows += [("add", name) for name in ("float16", "bfloat16")]
    rows += [(op, name) for op in ("and", "or", "xor") for name in numbers[:4]]
    many = [("add", name) for name in (*numbers, "float16", "bfloat16")]
    many += [(op, name) for op in ("max", "min") for name in ("float32", "int32", "uint64")]
    many += [("xor", "int32")]
    return [
        *(each_case(*row, warps[i % 3]) for i, row in enumerate(rows)),
        *(together_case(*row, warps[i % 3]) for i, row in enumerate(many)),
        *(swap_case(name) for name in ("int32", "uint64", "float32", "float64")),
        HISTOGRAM,
        TICKETS,
        LOCK,
    ]
