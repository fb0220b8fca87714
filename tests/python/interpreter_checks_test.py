"""Interpreted launches warn of what the compiler would refuse."""

import warnings

import numpy as np
import pytest

import enceladus
import enceladus.language as tl


@enceladus.jit(interpret=True)
def changing_kernel(x_ptr, n, TRY: tl.constexpr):
    total = 0
    for i in range(n):
        total = total + tl.load(x_ptr + i)
    tl.store(x_ptr, total)


def test_refusal_is_warned_of_once_for_each_specialization():
    x = np.ones(4, np.float32)
    with pytest.warns(UserWarning, match="the compiler refuses this kernel: .*`total` changes"):
        changing_kernel[(1,)](x, 4, TRY=1)
    assert x[0] == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        changing_kernel[(1,)](x, 3, TRY=1)
        # int32 values keep the type that the loop began with.
        changing_kernel[(1,)](np.ones(4, np.int32), 3, TRY=1)
    with pytest.warns(UserWarning, match="changes"):
        changing_kernel[(1,)](x, 4, TRY=2)


def test_python_that_only_the_interpreter_runs_is_warned_of():
    @enceladus.jit(interpret=True)
    def kernel(x_ptr):
        try:
            tl.store(x_ptr, 3.0)
        finally:
            pass

    x = np.zeros(1, np.float32)
    with pytest.warns(UserWarning, match="`try` is not supported|is not supported in a kernel"):
        kernel[(1,)](x)
    assert x[0] == 3
