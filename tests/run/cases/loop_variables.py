"""A loop's own variable behind the loop: it keeps its last value, or the one from before."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import Case, output


@enceladus.jit
def last_kernel(out_ptr, n, limit):
    i = 7
    for i in range(n):
        pass
    tl.store(out_ptr, i)
    j = n
    for j in range(10, n, -1):
        if j < limit:
            break
    tl.store(out_ptr + 1, j)
    k = 0
    for k in tl.range(0, n, 3):
        k += 100
    tl.store(out_ptr + 2, k)
    last = -1
    for outer in range(n):
        for last in range(outer):
            if last == 2:
                continue
    tl.store(out_ptr + 3, last)


def last_values(n, limit):
    i = 7
    for i in range(n):
        pass
    j = n
    for j in range(10, n, -1):
        if j < limit:
            break
    k = 0
    for k in range(0, n, 3):
        k += 100
    last = -1
    for outer in range(n):
        for last in range(outer):
            pass
    return np.array([i, j, k, last], np.int32)


def cases():
    return [
        Case(
            name=f"a loop variable behind its loop of {n} rounds",
            kernel=last_kernel,
            grid=(1,),
            inputs=lambda n=n: {"out_ptr": output("int32", 4), "n": n, "limit": 5},
            expected=lambda a: {"out_ptr": last_values(a["n"], a["limit"])},
        )
        for n in (0, 1, 6)
    ]
