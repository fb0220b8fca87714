"""Combine functions with branches: they are written for scalars and work on whole tiles."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import Case, output, plain


@enceladus.jit
def first_largest(value_a, index_a, value_b, index_b):
    if value_a > value_b:
        return value_a, index_a
    if value_a < value_b:
        return value_b, index_b
    index = index_b
    if index_a < index_b:
        index = index_a
    return value_a, index


@enceladus.jit
def bounded_sum(a, b):
    total = a + b
    if total > 100:
        total = 100
    elif total < 0 and b % 2 == 0:
        total = 0 * (a // b)
    return total


@enceladus.jit
def reduce_kernel(x_ptr, value_ptr, index_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    value, place = tl.reduce((tl.load(x_ptr + index), index), 0, first_largest)
    tl.store(value_ptr, value)
    tl.store(index_ptr, place)


@enceladus.jit
def scan_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.associative_scan(tl.load(x_ptr + offsets), 0, bounded_sum))


def reduce_inputs(name):
    x = plain(name, 128)
    x[[17, 99]] = x.max()
    return {
        "x_ptr": x,
        "value_ptr": output(name, 1),
        "index_ptr": output("int32", 1),
        "BLOCK": 128,
    }


def reduced(a):
    index = int(np.argmax(a["x_ptr"]))
    return {"value_ptr": a["x_ptr"][index : index + 1], "index_ptr": np.array([index])}


def scanned(a):
    # Of 0 to 60 the sum is bounded by 100 in whatever order it is taken.
    return {"out_ptr": np.minimum(np.cumsum(a["x_ptr"]), 100)}


def cases():
    return [
        *(
            Case(
                name=f"reduce with a branching combine function {name}",
                kernel=reduce_kernel,
                grid=(1,),
                inputs=lambda name=name: reduce_inputs(name),
                expected=reduced,
            )
            for name in ("float32", "int32", "float16")
        ),
        Case(
            name="scan with a branching combine function",
            kernel=scan_kernel,
            grid=(1,),
            inputs=lambda: {
                "x_ptr": np.abs(plain("int32", 64)) % 9,
                "out_ptr": output("int32", 64),
                "BLOCK": 64,
            },
            expected=scanned,
        ),
    ]
