"""Kernels launched first on a thread with a small stack: the compiler finds itself a deeper one."""

import threading

import numpy as np
import pytest

import enceladus
import enceladus.language as tl

pytestmark = pytest.mark.skipif(
    "cpu" not in [device.name for device in enceladus.devices()], reason="no CPU target"
)


@enceladus.jit
def chain_kernel(x_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    for _ in tl.static_range(COUNT):
        x = x * 0.5 + 1.0
    tl.store(x_ptr + offsets, x)


@enceladus.jit
def wrong_kernel(x_ptr, n):
    tl.store(x_ptr, undefined_name)  # noqa: F821


def on_small_stack(function, size):
    """Runs a function on a thread with a stack of `size` bytes; its result, or what it raised."""
    outcome = []

    def run():
        try:
            with enceladus.device("cpu"):
                outcome.append(function())
        except Exception as error:
            outcome.append(error)

    before = threading.stack_size(size)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return outcome[0]


@pytest.mark.parametrize("kibibytes", [128, 512, 4096])
@pytest.mark.parametrize("count", [1, 300, 4000])
def test_a_long_kernel_compiles_on_a_thread_with_a_small_stack(count, kibibytes):
    x = np.zeros(64, np.float32)
    result = on_small_stack(lambda: chain_kernel[(1,)](x, COUNT=count), kibibytes * 1024)
    assert result is None
    expected = np.float32(0)
    for _ in range(count):
        expected = expected * np.float32(0.5) + np.float32(1)
    np.testing.assert_allclose(x, expected, rtol=1e-6)


def test_an_error_of_the_compiler_reaches_a_thread_with_a_small_stack():
    x = np.zeros(64, np.float32)
    error = on_small_stack(lambda: wrong_kernel[(1,)](x, 3), 128 * 1024)
    assert isinstance(error, enceladus.CompilationError)
    assert "undefined_name" in str(error)
