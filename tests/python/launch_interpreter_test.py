"""Launches that the interpreter runs: chosen at each launch, with the launcher's own binding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import enceladus
import enceladus.language as tl


def add_function(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr = 4):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask)
    if y_ptr is not None:
        total += tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)


@pytest.fixture
def arrays() -> tuple[Any, Any, Any]:
    x = np.arange(10, dtype=np.float32)
    return x, 10 * x, np.zeros_like(x)


def test_the_environment_is_read_at_each_launch(
    arrays: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, out = arrays
    kernel = enceladus.jit(add_function)
    assert not kernel.is_interpreted()
    monkeypatch.setenv("ENCELADUS_INTERPRET", "1")
    assert kernel.is_interpreted()
    kernel[lambda meta: enceladus.cdiv(meta["n"], meta["BLOCK"])](x, y, out, 10)
    np.testing.assert_array_equal(out, 11 * x)


def test_the_decorator_decides_over_the_environment(
    arrays: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, out = arrays
    kernel = enceladus.jit(interpret=True)(add_function)
    monkeypatch.setenv("ENCELADUS_INTERPRET", "0")
    kernel.run(x, y, out, 10, grid=(3,), num_warps=8)
    np.testing.assert_array_equal(out, 11 * x)
    assert not enceladus.jit(interpret=False)(add_function).is_interpreted()


def test_none_for_an_array_reaches_the_kernel(arrays: Any) -> None:
    x, _, out = arrays
    kernel = enceladus.jit(interpret=True)(add_function)
    kernel[3](x, None, out, n=10, BLOCK=4)
    np.testing.assert_array_equal(out, x)


def test_arguments_and_grid_are_checked_as_in_a_compiled_launch(arrays: Any) -> None:
    x, y, out = arrays
    kernel = enceladus.jit(interpret=True)(add_function)
    with pytest.raises(TypeError, match="missing 1 required argument: 'n'"):
        kernel[(3,)](x, y, out)
    with pytest.raises(ValueError, match=r"grid\[0\] of `add_function` is -3"):
        kernel[(-3,)](x, y, out, 10)
    kernel[(0,)](x, y, out, 10)
    assert not out.any()


def test_out_of_bounds_names_the_kernels_line(arrays: Any) -> None:
    x, y, _ = arrays
    kernel = enceladus.jit(interpret=True)(add_function)
    with pytest.raises(IndexError, match=r"launch_interpreter_test.py:\d+"):
        kernel[(3,)](x, y, np.zeros(5, np.float32), 10)
