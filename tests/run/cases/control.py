"""Control flow, helpers and compile-time values: each kernel shows a few rules of the language."""

import math

import numpy as np

import enceladus
import enceladus.language as tl

from .case import Case, output, plain

SCALE = tl.constexpr(3)


@enceladus.jit
def scale_and_shift(x, factor=2, *, shift=0):
    return x * factor, x + shift


@enceladus.jit
def nested(x, n: tl.constexpr):
    if n == 0:
        return x
    doubled, _ = scale_and_shift(x)
    return doubled + n


@enceladus.jit
def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0


@enceladus.jit
def helper_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    doubled, shifted = scale_and_shift(x, shift=5)
    tripled, (same, again) = nested(x, 0) * SCALE, (x, x)
    result = doubled + shifted + tripled - same + again * nested(x, n=2)
    tl.store(out_ptr + offsets, result)


@enceladus.jit
def loops_kernel(x_ptr, out_ptr, n, start, step):
    total = 0
    count = 0
    for i in range(start, n, step):
        if i % 5 == 3:
            continue
        if i > 40:
            break
        total += tl.load(x_ptr + i)
        count += 1
    tl.store(out_ptr, total)
    tl.store(out_ptr + 1, count)
    for i in range(n - 1, -1, -1):
        total = total * 3 + i
    tl.store(out_ptr + 2, total)
    for _ in tl.range(0, n, 2, num_stages=3, loop_unroll_factor=2, flatten=True):
        total ^= count
        count += total % 7
    tl.store(out_ptr + 3, total)
    for i in range(5, 5):
        count = i
    tl.store(out_ptr + 4, count)


@enceladus.jit
def collatz_kernel(x_ptr, out_ptr):
    pid = tl.program_id(0)
    value = tl.load(x_ptr + pid)
    steps = 0
    while value != 1 and steps < 1000:
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    tl.store(out_ptr + pid, steps)


@enceladus.jit
def nested_loops_kernel(out_ptr, n):
    pid = tl.program_id(0)
    a, b = 0, 1
    total = 0
    for i in range(n):
        j = 0
        while True:
            if j > i:
                break
            total += i * j
            j += 2
        a, b = b, (a + b) % 1000
    tl.store(out_ptr + pid, total + a + b)


@enceladus.jit
def early_return_kernel(x_ptr, out_ptr, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    x = tl.load(x_ptr + pid)
    if x < 0:
        tl.store(out_ptr + pid, -1)
        return
    tl.store(out_ptr + pid, x * 2)


@enceladus.jit
def conditions_kernel(x_ptr, out_ptr, low, high):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    result = 0
    if low < x < high:
        result += 1
    if x < low or x > high:
        result += 2
    if not (x == low) and x != high:
        result += 4
    result += 8 if x > 0 else 16
    if x % 2 == 0:
        if x % 3 == 0:
            result += 32
        else:
            result += 64
    elif x % 3 == 0:
        result += 128
    result += 512 * min(max(x, -1), 1) + 4096 * abs(x)
    tl.store(out_ptr + pid, result)


@enceladus.jit
def sign_kernel(x_ptr, out_ptr):
    pid = tl.program_id(0)
    tl.store(out_ptr + pid, sign(tl.load(x_ptr + pid)) * 3)


@enceladus.jit
def carried_tiles_kernel(x_ptr, out_ptr, n, R: tl.constexpr, C: tl.constexpr):
    columns = tl.arange(0, C)
    best = tl.full((C,), float("-inf"), tl.float32)
    where = tl.zeros((C,), tl.int32)
    for row in range(n):
        x = tl.load(x_ptr + row * C + columns)
        better = x > best
        best = tl.where(better, x, best)
        where = tl.where(better, row, where)
        if row == R:
            best += 1.0
    tl.store(out_ptr + columns, best)
    tl.store(out_ptr + C + columns, where)


def small(count):
    return plain("int32", count, seed="control")


def helper_expected(a):
    x = a["x_ptr"].astype(np.int32)
    return {"out_ptr": 2 * x + x + 5 + 3 * x - x + x * (2 * x + 2)}


def wrapped(value):
    return (value + 2**31) % 2**32 - 2**31


def remainder(a, b):
    return int(math.fmod(a, b))


def loops_expected(a):
    n, x = a["n"], a["x_ptr"]
    total = count = 0
    for i in range(a["start"], n, a["step"]):
        if i % 5 == 3:
            continue
        if i > 40:
            break
        total += int(x[i])
        count += 1
    results = [total, count]
    for i in range(n - 1, -1, -1):
        total = wrapped(total * 3 + i)
    results.append(total)
    for _ in range(0, n, 2):
        total ^= count
        count = wrapped(count + remainder(total, 7))
    return {"out_ptr": np.array([*results, total, count])}


def collatz_expected(a):
    results = []
    for value in map(int, a["x_ptr"]):
        steps = 0
        while value != 1 and steps < 1000:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            steps += 1
        results.append(steps)
    return {"out_ptr": np.array(results)}


def nested_expected(a):
    x, y, total = 0, 1, 0
    for i in range(a["n"]):
        total += sum(i * j for j in range(0, i + 1, 2))
        x, y = y, (x + y) % 1000
    return {"out_ptr": np.full(4, total + x + y)}


def early_expected(a):
    result = a["out_ptr"].copy()
    x = a["x_ptr"][: a["n"]]
    result[: a["n"]] = np.where(x < 0, -1, x * 2)
    return {"out_ptr": result}


def conditions_expected(a):
    results = []
    for x in map(int, a["x_ptr"]):
        low, high = a["low"], a["high"]
        result = (low < x < high) + 2 * (x < low or x > high) + 4 * (x not in (low, high))
        result += 8 if x > 0 else 16
        result += (32 if x % 3 == 0 else 64) if x % 2 == 0 else 128 * (x % 3 == 0)
        result += ((x > 0) - (x < 0)) * 512 + 4096 * abs(x)
        results.append(result)
    return {"out_ptr": np.array(results)}


def carried_expected(a):
    x = a["x_ptr"]
    best, where = x.max(axis=0), x.argmax(axis=0)
    return {"out_ptr": np.concatenate([best, where]).astype(np.float32)}


CASES = [
    Case(
        "helpers with defaults, keywords and tuples",
        helper_kernel,
        (1,),
        lambda: {"x_ptr": small(64), "out_ptr": output("int32", 64), "BLOCK": 64},
        helper_expected,
    ),
    *(
        Case(
            f"loops with break and continue from {start} by {step}",
            loops_kernel,
            (1,),
            lambda start=start, step=step: {
                "x_ptr": small(60),
                "out_ptr": output("int32", 5),
                "n": 60,
                "start": start,
                "step": step,
            },
            loops_expected,
        )
        for start, step in ((0, 1), (2, 3))
    ),
    Case(
        "while with a condition of two parts",
        collatz_kernel,
        (20,),
        lambda: {"x_ptr": np.arange(1, 21, dtype=np.int32), "out_ptr": output("int32", 20)},
        collatz_expected,
    ),
    Case(
        "a while inside a for",
        nested_loops_kernel,
        (4,),
        lambda: {"out_ptr": output("int32", 4), "n": 25},
        nested_expected,
    ),
    Case(
        "early return",
        early_return_kernel,
        (30,),
        lambda: {"x_ptr": small(30), "out_ptr": output("int32", 30), "n": 20},
        early_expected,
    ),
    Case(
        "scalar conditions",
        conditions_kernel,
        (41,),
        lambda: {
            "x_ptr": np.arange(-20, 21, dtype=np.int32),
            "out_ptr": output("int32", 41),
            "low": -3,
            "high": 10,
        },
        conditions_expected,
    ),
    Case(
        "a helper returns from its branches",
        sign_kernel,
        (3,),
        lambda: {"x_ptr": np.array([-5, 0, 9], np.int32), "out_ptr": output("int32", 3)},
        lambda a: {"out_ptr": np.array([-3, 0, 3])},
    ),
    Case(
        "tiles carried by a loop",
        carried_tiles_kernel,
        (1,),
        lambda: {
            "x_ptr": plain("float32", 10, 32),
            "out_ptr": output("float32", 64),
            "n": 10,
            "R": 99,
            "C": 32,
        },
        carried_expected,
    ),
]


def cases():
    return CASES
