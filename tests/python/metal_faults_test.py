"""Each call of Metal's that can fail is made to fail: a clear error, and a process that goes on."""

import numpy as np
import pytest

import enceladus
import enceladus.language as tl

pytestmark = pytest.mark.skipif(
    "metal-sim" not in enceladus.devices(), reason="the simulator is for Linux on x86-64"
)

if "metal-sim" in enceladus.devices():
    from enceladus.testing._simulator import library


@enceladus.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


def work(block):
    """Allocates, compiles, launches on a tensor and on a NumPy array, times, waits."""
    x = enceladus.from_numpy(np.arange(block, dtype=np.int32))
    y = np.arange(block, dtype=np.int32)
    before, after = enceladus._core.Event(), enceladus._core.Event()
    double[(1,)](x, block, BLOCK=block)
    before.record()
    double[(1,)](y, block, BLOCK=block)
    after.record()
    assert before.elapsed_ms(after) >= 0
    np.testing.assert_array_equal(x.numpy(), 2 * np.arange(block))
    np.testing.assert_array_equal(y, 2 * np.arange(block))


@pytest.fixture
def simulator():
    with enceladus.device("metal-sim"):
        enceladus.synchronize()
        yield library()
        library().call("clear_injections")


def calls_that_can_fail(simulator, block):
    simulator.call("reset_calls")
    work(block)
    enceladus.synchronize()
    return {
        name: record["calls"]
        for name, record in simulator.read("calls").items()
        if record["can_fail"]
    }


def test_every_call_may_fail(simulator, monkeypatch):
    monkeypatch.setenv("ENCELADUS_ALWAYS_COMPILE", "1")
    work(32)
    calls = calls_that_can_fail(simulator, 64)
    assert len(calls) >= 7, calls
    blocks = iter(2**k for k in range(7, 16))
    silent = []
    for name, count in calls.items():
        for skip in range(min(count, 2)):
            # A kernel of its own, so that compiling can fail each time.
            block = next(blocks, None) if "Library" in name or "Pipeline" in name else 64
            block = block or 64
            simulator.call("inject", name.encode(), skip)
            try:
                work(block)
                enceladus.synchronize()
                silent.append((name, skip))
            except (enceladus.EnceladusError, MemoryError) as error:
                assert isinstance(error, MemoryError) or len(str(error)) > 20, (name, error)
            simulator.call("clear_injections")
            try:
                enceladus.synchronize()  # what a second launch of `work` left
            except enceladus.EnceladusError:
                pass
            work(64)
    # A buffer that cannot be wrapped is copied in its place.
    assert all("NoCopy" in name for name, _ in silent), silent
    assert simulator.read("take_violations") == []
