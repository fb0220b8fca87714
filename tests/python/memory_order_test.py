"""A program is sequential: loads and stores of overlapping arrays keep their order, carried tiles
change places at one moment. Each kernel runs on the interpreter and on every target."""

import numpy as np
import pytest

import enceladus
import enceladus.language as tl

TARGETS = [device.name for device in enceladus.devices()]
SIZE = 64


@enceladus.jit
def shift_kernel(x_ptr, y_ptr):
    i = tl.arange(0, 32)
    tl.store(y_ptr + i, tl.load(x_ptr + i) + 1)


@enceladus.jit
def store_then_load_kernel(x_ptr, y_ptr, out_ptr):
    i = tl.arange(0, 32)
    before = tl.load(x_ptr + i)
    tl.store(y_ptr + i, before * 2)
    after = tl.load(x_ptr + i)
    tl.store(out_ptr + i, after - before)


@enceladus.jit
def old_value_kernel(x_ptr, y_ptr):
    i = tl.arange(0, 32)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(x_ptr + i, x + y)
    tl.store(y_ptr + i, x - y)


@enceladus.jit
def swap_kernel(x_ptr, y_ptr, turns):
    i = tl.arange(0, 32)
    a = tl.load(x_ptr + i)
    b = tl.load(y_ptr + i)
    for _ in range(turns):
        a, b = b, a + b
    tl.store(x_ptr + i, a)
    tl.store(y_ptr + i, b)


@enceladus.jit
def transposed_carry_kernel(x_ptr, turns):
    r = tl.arange(0, 8)[:, None]
    c = tl.arange(0, 8)[None, :]
    a = tl.load(x_ptr + r * 8 + c)
    s = tl.sum(a, axis=0)
    for k in range(turns):
        a = tl.trans(a) + s[None, :] * k
        s = tl.sum(a, axis=1) % 17
    tl.store(x_ptr + r * 8 + c, a)


@enceladus.jit
def duplicates_kernel(x_ptr, index_ptr):
    i = tl.arange(0, 32)
    index = tl.load(index_ptr + i)
    tl.store(x_ptr + index, tl.load(x_ptr + index) + 1)


@enceladus.jit
def reverse_in_place_kernel(x_ptr):
    i = tl.arange(0, 64)
    tl.store(x_ptr + i, tl.load(x_ptr + (63 - i)))


@enceladus.jit
def through_memory_kernel(x_ptr, out_ptr, turns):
    i = tl.arange(0, 32)
    total = tl.zeros((32,), tl.int32)
    for k in range(turns):
        seen = tl.load(x_ptr + (31 - i))
        total += seen
        tl.store(x_ptr + i, total + k)
        total += tl.sum(tl.load(x_ptr + i), axis=0)
    tl.store(out_ptr + i, total)


@enceladus.jit
def branch_kernel(x_ptr, out_ptr, flag):
    i = tl.arange(0, 32)
    x = tl.load(x_ptr + i)
    if flag > 0:
        y = tl.cumsum(x, axis=0)
        z = x
    else:
        y = x * 3
        z = tl.load(x_ptr + (i ^ 1))
    n = tl.max(z, axis=0)
    while n > 10:
        y, z = z, y
        n -= 7
    tl.store(out_ptr + i, y - z)


def numbers(seed, size=SIZE, high=100):
    return np.random.default_rng(seed).integers(0, high, size).astype(np.int32)


def shifted(memory):
    return shift_kernel, (memory[:32], memory[1:33])


def overlapping(memory):
    return store_then_load_kernel, (memory[:32], memory[5:37], np.zeros(32, np.int32))


CASES = {
    "shift up": shifted,
    "shift down": lambda m: (shift_kernel, (m[1:33], m[:32])),
    "same array": lambda m: (shift_kernel, (m[:32], m[:32])),
    "store then load": overlapping,
    "old value": lambda m: (old_value_kernel, (m[:32], m[32:])),
    "old value, overlapping": lambda m: (old_value_kernel, (m[:32], m[7:39])),
    "swap": lambda m: (swap_kernel, (m[:32], m[32:], 5)),
    "transposed carry": lambda m: (transposed_carry_kernel, (m, 3)),
    "duplicates": lambda m: (duplicates_kernel, (m, numbers(9, 32, 8))),
    "reverse in place": lambda m: (reverse_in_place_kernel, (m,)),
    "through memory": lambda m: (through_memory_kernel, (m[:32], m[32:], 3)),
    "branch": lambda m: (branch_kernel, (m[:32], m[32:], 1)),
    "other branch": lambda m: (branch_kernel, (m[:32], m[32:], 0)),
}


def run(case, monkeypatch, target):
    memory = numbers(3)
    kernel, arguments = CASES[case](memory)
    if target == "interpreter":
        monkeypatch.setenv("ENCELADUS_INTERPRET", "1")
        kernel[(1,)](*arguments)
    else:
        monkeypatch.setenv("ENCELADUS_INTERPRET", "0")
        with enceladus.device(target):
            kernel[(1,)](*arguments)
    return [memory, *(a.copy() for a in arguments if isinstance(a, np.ndarray))]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CASES)
def test_order_is_the_interpreters(case, target, monkeypatch):
    if case == "duplicates" and target == "metal-sim":
        # Two threads store one value at one address, which no GPU minds; the simulator reports it.
        with pytest.raises(enceladus.MetalError, match="race"):
            run(case, monkeypatch, target)
        return
    expected = run(case, monkeypatch, "interpreter")
    found = run(case, monkeypatch, target)
    for want, got in zip(expected, found, strict=True):
        np.testing.assert_array_equal(got, want)
