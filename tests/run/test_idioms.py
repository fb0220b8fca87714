"""Ways of writing that kernels of other projects use, each in a kernel of its own.

Every kernel runs on the interpreter and on every target, and is compared with NumPy.
"""

import numpy as np
import pytest

import enceladus
import enceladus.language as tl

TARGETS = ["interpreter", *(device.name for device in enceladus.devices())]


@pytest.fixture(params=TARGETS)
def launch(request, monkeypatch):
    """Calls of the fixture launch on the parameter's target."""
    interpreted = request.param == "interpreter"
    monkeypatch.setenv("ENCELADUS_INTERPRET", "1" if interpreted else "0")

    def run(kernel, grid, *arguments, **constants):
        with enceladus.device("cpu" if interpreted else request.param):
            kernel[grid](*arguments, **constants)

    run.target = request.param
    return run


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@enceladus.jit
def add_rows_under_a_lock(x_ptr, sum_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x_ptr += tl.program_id(0) * n
    count_ptr = lock_ptr + 1
    part = tl.load(x_ptr + columns, mask=mask)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    if tl.load(count_ptr) == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        part += tl.load(sum_ptr + columns, mask=mask)
    tl.store(sum_ptr + columns, part, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


def test_a_spin_lock_orders_programs(launch):
    if launch.target == "metal-sim":
        pytest.skip("Metal's atomics order no other memory: the simulator reports a race")
    x, total, lock = normal(40, 50), np.full(50, 7, np.float32), np.zeros(2, np.int32)
    launch(add_rows_under_a_lock, (40,), x, total, lock, 50, BLOCK=64)
    np.testing.assert_allclose(total, x.sum(0), rtol=1e-5, atol=1e-4)  # 40 roundings
    assert lock.tolist() == [0, 1]


@enceladus.jit
def rectified(x):
    return tl.maximum(x, 0.0)


@enceladus.jit
def map_optional(x_ptr, bias_ptr, y_ptr, n, BLOCK: tl.constexpr, FUNCTION: tl.constexpr = None):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    if bias_ptr is not None:
        x += tl.load(bias_ptr)
    if FUNCTION is not None:
        x = FUNCTION(x)
    tl.store(y_ptr + offsets, x, mask=offsets < n)


@pytest.mark.parametrize("bias", [None, np.full(1, 0.5, np.float32)])
@pytest.mark.parametrize("function", [None, rectified])
def test_arrays_and_functions_may_be_absent(launch, bias, function):
    x, y = normal(100), np.zeros(100, np.float32)
    launch(map_optional, (2,), x, bias, y, 100, BLOCK=64, FUNCTION=function)
    wanted = x if bias is None else x + bias
    np.testing.assert_array_equal(y, wanted if function is None else np.maximum(wanted, 0))


@enceladus.jit
def descriptor_of(array, shape, strides, block_shape):
    if isinstance(array, tl.tensor_descriptor):
        return array
    return tl.make_tensor_descriptor(array, shape, strides, block_shape)


@enceladus.jit
def copy_through_helpers(x_ptr, y_ptr, m, n, BLOCK: tl.constexpr):
    x = descriptor_of(x_ptr, shape=[m, n], strides=[n, 1], block_shape=[BLOCK, BLOCK])
    y = descriptor_of(y_ptr, shape=[m, n], strides=[n, 1], block_shape=[BLOCK, BLOCK])
    x = descriptor_of(x, [m, n], [n, 1], [BLOCK, BLOCK])
    for row in range(0, m, BLOCK):
        for column in range(0, n, BLOCK):
            y.store([row, column], x.load([row, column]))


def test_a_helper_takes_a_pointer_or_a_descriptor(launch):
    x, y = normal(21, 19), np.zeros((21, 19), np.float32)
    launch(copy_through_helpers, (1,), x, y, 21, 19, BLOCK=16)
    np.testing.assert_array_equal(y, x)


@enceladus.jit
def turn(first, second, angle: tl.constexpr, OFFSET: tl.constexpr):
    return first - second * angle + OFFSET, second + first * angle


@enceladus.jit
def turned(x_ptr, y_ptr, angle, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    first, second = tl.load(x_ptr + offsets), tl.load(x_ptr + BLOCK + offsets)
    first, second = turn(first, second, angle, OFFSET=offsets)
    tl.store(y_ptr + offsets, first)
    tl.store(y_ptr + BLOCK + offsets, second)


def test_a_constexpr_parameter_of_a_helper_takes_run_time_values(launch):
    x, y = normal(64), np.zeros(64, np.float32)
    launch(turned, (1,), x, y, 0.25, BLOCK=32)
    wanted = np.concatenate([x[:32] - x[32:] / 4 + np.arange(32), x[32:] + x[:32] / 4])
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)  # contraction


@enceladus.jit
def loss_of_row(x_ptr, label_ptr, loss_ptr, n, IGNORED: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(label_ptr + row)
    if label == IGNORED:
        return
    x_ptr += row * n
    largest = float("-inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n, other=float("-inf")).cast(tl.float32)
        now = tl.maximum(largest, tl.max(x))
        total = total * tl.exp(largest - now) + tl.sum(tl.exp(x - now))
        largest = now
    tl.store(loss_ptr + row, largest + tl.log(total) - tl.load(x_ptr + label))


def test_a_running_softmax_starts_from_minus_infinity(launch):
    x, loss = normal(9, 130), np.zeros(9, np.float32)
    label = np.array([3, 129, -100, 0, 64, 63, -100, 1, 2], np.int64)
    launch(loss_of_row, (9,), x, label, loss, 130, IGNORED=-100, BLOCK=64)
    wide = x.astype(np.float64)
    wanted = np.log(np.exp(wide).sum(1)) - wide[np.arange(9), label]
    np.testing.assert_allclose(loss, np.where(label == -100, 0, wanted), rtol=1e-5, atol=1e-5)
