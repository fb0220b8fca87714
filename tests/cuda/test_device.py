"""The device itself: many launches, memory, timing, faults, tuning."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus.testing import do_bench


@pytest.fixture(autouse=True)
def cuda():
    with enceladus.device("cuda:0"):
        yield


@enceladus.jit
def increment_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000])
def test_launches_run_in_order(count):
    x = enceladus.zeros(1000, dtype="int32")
    for _ in range(count):
        increment_kernel[(1,)](x, 1000, BLOCK=1024)
    assert (x.numpy() == count).all()


def test_memory_that_a_pending_launch_uses_outlives_its_tensor():
    for _ in range(50):
        x = enceladus.zeros(1 << 20, dtype="int32")
        increment_kernel[(1024,)](x, 1 << 20, BLOCK=1024)
        del x
        y = enceladus.zeros(1 << 20, dtype="int32")
    assert y.numpy().sum() == 0


def test_do_bench_sees_the_devices_time():
    x = enceladus.zeros(1 << 26, dtype="int32")
    launch = increment_kernel[(1 << 16,)]
    milliseconds = do_bench(lambda: launch(x, 1 << 26, BLOCK=1024))
    # 512 MiB of traffic: more than 5 TB/s or less than 0.5 would be a mistake of the clock.
    assert 0.1 < milliseconds < 1.1


def test_random_numbers_are_those_of_the_cpu():
    found = []
    for device in ("cpu", "cuda:0"):
        enceladus.manual_seed(11)
        found.append(enceladus.randn(100001, dtype="float32", device=device).numpy())
    np.testing.assert_array_equal(found[0], found[1])


def test_tuning_keeps_the_fastest_and_runs_an_in_place_kernel_once():
    configs = [enceladus.Config({"BLOCK": block}) for block in (256, 1024)]
    tuned = enceladus.autotune(configs=configs, key=["n"], cache_results=False)(increment_kernel)
    x = enceladus.zeros(1 << 20, dtype="int32")
    tuned[lambda meta: (enceladus.cdiv(1 << 20, meta["BLOCK"]),)](x, 1 << 20)
    assert (x.numpy() == 1).all()


FAULT = """
import enceladus, enceladus.language as tl

@enceladus.jit
def bad_kernel(x_ptr, far):
    tl.store(x_ptr + far, 1.0)

x = enceladus.zeros(16, device="cuda:0")
bad_kernel[(1,)](x, 1 << 40)
try:
    enceladus.synchronize("cuda:0")
except enceladus.CudaError as error:
    print(error)
import os; os._exit(0)
"""


def test_an_illegal_address_names_the_kernel_and_says_that_the_context_is_lost(tmp_path):
    script = tmp_path / "fault.py"
    script.write_text(textwrap.dedent(FAULT))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert "kernel `bad_kernel`" in done.stdout, done.stderr
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in done.stdout
    assert "context of this process is lost" in done.stdout


def test_a_failed_assertion_names_its_line_and_leaves_the_device_usable():
    @enceladus.jit(debug=True)
    def positive_kernel(x_ptr, BLOCK: tl.constexpr):
        x = tl.load(x_ptr + tl.arange(0, BLOCK))
        tl.device_assert(x > 0, "all are positive")

    x = enceladus.ones(64)
    positive_kernel[(1,)](x, BLOCK=64)
    enceladus.synchronize()
    x[5] = -1
    positive_kernel[(1,)](x, BLOCK=64)
    with pytest.raises(enceladus.DeviceAssertionError, match="all are positive"):
        enceladus.synchronize()
    increment_kernel[(1,)](x, 64, BLOCK=64)
    assert x.numpy()[5] == 0
