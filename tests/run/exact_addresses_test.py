"""Offsets mean what unlimited precision gives (api.md 1.2), compiled and interpreted alike.

In each kernel a part of the offset leaves 32 bits and the whole comes back, so that an offset that
wrapped on the way would miss its element.
"""

import numpy as np
import pytest

import enceladus
import enceladus.language as tl

BIG = 65536


@enceladus.jit
def through_quotients(out, n, big):
    pid = tl.program_id(0)
    tl.store(out + (pid * big * big) // big // big, pid + 1)


@enceladus.jit
def through_a_branch_and_a_minimum(out, n, big):
    pid = tl.program_id(0)
    offset = tl.minimum(pid * big * big, 8) + pid
    if pid == 0:
        offset = offset + n
    tl.store(out + offset, pid + 1)


@enceladus.jit
def carried_around_a_loop(out, n, big):
    ahead = 0
    behind = 0
    for i in range(n):
        tl.store(out + (ahead - behind), i + 1)
        ahead += big * 30000
        behind += big * 30000 - 1


@enceladus.jit
def carried_pointer_of_a_while_loop(out, n, big):
    pointer = out
    i = 0
    while i < n:
        tl.store(pointer, i + 1)
        pointer += (big * big) // big // big
        i += 1


@enceladus.jit
def tile_of_offsets(out, n, big):
    index = tl.arange(0, 8)
    tl.store(out + (index * big * big) // big // big, index + 1)


EXPECTED = {
    through_quotients: list(range(1, 9)),
    through_a_branch_and_a_minimum: [0] * 8 + [1, 2, 3, 4, 5, 6, 7, 8],
    carried_around_a_loop: list(range(1, 9)),
    carried_pointer_of_a_while_loop: list(range(1, 9)),
    tile_of_offsets: list(range(1, 9)),
}


@pytest.mark.parametrize("interpret", [False, True], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("kernel", EXPECTED, ids=lambda kernel: kernel.__name__)
def test_offsets_do_not_wrap(kernel, interpret):
    out = np.zeros(24, np.int32)
    launched = enceladus.jit(kernel.fn, interpret=True) if interpret else kernel
    grid = (8,) if "program_id" in kernel.source else (1,)
    launched[grid](out, 8, BIG)
    expected = np.zeros(24, np.int32)
    expected[: len(EXPECTED[kernel])] = EXPECTED[kernel]
    np.testing.assert_array_equal(out, expected)
