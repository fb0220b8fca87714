"""Each call of Metal's that can fail is made to fail: a clear error, and a process that goes on."""

import ctypes
import itertools

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from needs import needs_simulator

pytestmark = needs_simulator

if "metal-sim" in enceladus.devices():
    from enceladus.testing._simulator import library


@enceladus.jit
def double(x_ptr, n, BLOCK: tl.constexpr, VARIANT: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.static_assert(VARIANT >= 0)
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


N = 64


def work(variant):
    """Allocates, compiles a new variant, launches on a tensor and on NumPy, times, waits."""
    x = enceladus.from_numpy(np.arange(N, dtype=np.int32))
    y = np.arange(N, dtype=np.int32)
    before, after = enceladus._core.Event(), enceladus._core.Event()
    double[(1,)](x, N, BLOCK=N, VARIANT=variant)
    before.record()
    double[(1,)](y, N, BLOCK=N, VARIANT=variant)
    after.record()
    assert before.elapsed_ms(after) >= 0
    np.testing.assert_array_equal(x.numpy(), 2 * np.arange(N))
    np.testing.assert_array_equal(y, 2 * np.arange(N))


@pytest.fixture
def simulator():
    with enceladus.device("metal-sim"):
        enceladus.synchronize()
        yield library()
        library().call("clear_injections")


def calls_that_can_fail(simulator, variant):
    simulator.call("reset_calls")
    work(variant)
    enceladus.synchronize()
    return {
        name: record["calls"]
        for name, record in simulator.read("calls").items()
        if record["can_fail"]
    }


def selector(call):
    """`commit` of `-[MTLCommandBuffer commit]`; functions are called what they are called."""
    return call.rstrip("]").split(" ")[-1]


def fails(variant):
    """Whether `work` ends in an error, which must say something."""
    try:
        work(variant)
        enceladus.synchronize()
    except MemoryError:
        return True
    except enceladus.EnceladusError as error:
        assert len(str(error)) > 20, error
        return True
    return False


@pytest.mark.filterwarnings("ignore:kernel `double` was compiled:RuntimeWarning")
def test_every_call_may_fail(simulator):
    variants = itertools.count()
    work(next(variants))
    calls = calls_that_can_fail(simulator, next(variants))
    assert len(calls) >= 10, calls
    silent = []
    for name, count in calls.items():
        for skip in range(min(count, 2)):
            simulator.call("inject", selector(name).encode(), ctypes.c_int64(skip))
            if not fails(next(variants)):
                silent.append(name)
            simulator.call("clear_injections")
            fails(0)  # an error that comes late may surface here
            work(0)
    # An array that cannot be wrapped is copied in its place.
    assert all("NoCopy" in name for name in silent), silent
    simulator.read("take_violations")  # of calls that can fail in no other way
