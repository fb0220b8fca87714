"""When NVRTC is made ready before the first launch, and what an exit does meanwhile: the driver is
the stand-in of conftest, NVRTC the real one."""

import os
import signal

import pytest

from cuda_host_test import HAND_WRITTEN, KERNEL, needs_nvrtc

pytestmark = needs_nvrtc

# Registered first, so called last: behind our own handler, which waits for the thread.
SAYS_AT_THE_END = """
import atexit
atexit.register(lambda: print("nvrtc" if "libnvrtc" in open("/proc/self/maps").read() else "none"))
"""
START = """
import enceladus
from kernels import *
x = enceladus.ones(64, device="cuda:0")
"""
LAUNCH = (
    START
    + """
add_kernel[(1,)](x, x, x, 64, BLOCK=64)
print(x.numpy().sum())
"""
)


@pytest.fixture
def run(run_on_fake_cuda, tmp_path):
    """Runs a text, its kernels in a file of their own; the words that it prints."""
    (tmp_path / "kernels.py").write_text(KERNEL)

    def call(text, **settings):
        return run_on_fake_cuda(SAYS_AT_THE_END + text, **settings).split()

    return call


def test_with_nothing_in_the_cache_the_start_of_a_device_loads_it(run):
    assert run(START) == ["nvrtc"]


def test_with_the_kernel_in_the_cache_nothing_loads_it(run):
    assert run(LAUNCH) == ["128.0", "nvrtc"]
    assert run(LAUNCH) == ["128.0", "none"]


def test_a_kernels_file_that_changed_lets_the_start_load_it_until_the_kernel_is_found_all_the_same(
    run, tmp_path
):
    run(LAUNCH)
    (marker,) = (tmp_path / "cache" / "cuda").iterdir()
    os.utime(marker, (1, 1))
    assert run(START) == ["nvrtc"]
    assert run(LAUNCH) == ["128.0", "nvrtc"]
    assert run(LAUNCH) == ["128.0", "none"]


def test_a_kernel_that_is_missing_against_expectation_is_compiled(run):
    run(LAUNCH)
    assert run(START) == ["none"]
    other = LAUNCH.replace("BLOCK=64", "BLOCK=128")
    assert run(other) == ["128.0", "nvrtc"]
    assert run(other) == ["128.0", "none"]


def test_what_the_cache_does_not_serve_is_expected_to_be_compiled(run, tmp_path):
    run(LAUNCH)
    assert run(START, ENCELADUS_ALWAYS_COMPILE="1") == ["nvrtc"]
    assert run(START, ENCELADUS_OVERRIDE_DIR=str(tmp_path)) == ["nvrtc"]
    assert run(HAND_WRITTEN + START) == ["nvrtc"]


def test_a_cache_that_cannot_be_written_is_no_error(run, tmp_path):
    (tmp_path / "cache").write_text("no folder")
    for _ in range(2):
        assert run("import warnings; warnings.simplefilter('ignore')" + LAUNCH) == [
            "128.0",
            "nvrtc",
        ]


@pytest.mark.parametrize("wait", [0, 10, 30, 40, 50, 80])
def test_the_exit_of_c_waits_for_what_is_compiled_for_nothing(run_on_fake_cuda, wait):
    """It crashed from about 30 ms on, in handlers that NVRTC had registered."""
    (status,) = run_on_fake_cuda(
        f"""
import ctypes, os, time
import enceladus
if os.fork() == 0:
    enceladus.ones(64, device="cuda:0")
    time.sleep({wait} / 1000)
    ctypes.CDLL(None).exit(7)
print(os.wait()[1])
"""
    ).split()
    status = int(status)
    assert not os.WIFSIGNALED(status), signal.Signals(os.WTERMSIG(status)).name
    assert os.WEXITSTATUS(status) == 7
