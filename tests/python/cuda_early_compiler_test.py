"""What of CUDA is started before the first launch and beside its compilation, and what an exit does
meanwhile: the driver is the stand-in of conftest, NVRTC the real one."""

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


ON_THE_HOST = """
import os, time
import numpy as np
import enceladus
from enceladus import _variants
from kernels import *

def has_context():
    return "cuDevicePrimaryCtxRetain" in open(os.environ["FAKE_CUDA_JOURNAL"]).read()

def compile_once_there_is_a_context(*arguments):
    end = time.monotonic() + 60
    while not has_context() and time.monotonic() < end:
        time.sleep(0.01)
    print(has_context())
    return compile_now(*arguments)

compile_now = _variants.compile_now
_variants.compile_now = compile_once_there_is_a_context
x = np.ones(64, np.float32)
"""


def test_the_device_starts_beside_the_first_compilation(run):
    assert run(
        ON_THE_HOST + "add_kernel[(1,)](x, x, x, 64, BLOCK=64)\nprint(x.sum())",
        ENCELADUS_DEVICE="cuda:0",
    ) == ["True", "128.0", "nvrtc"]


def test_what_a_start_beside_a_compilation_meets_is_raised_by_the_launch(run_on_fake_cuda):
    out = run_on_fake_cuda(
        KERNEL
        + """
x = np.ones(64, np.float32)
for _ in range(2):
    try:
        add_kernel[(1,)](x, x, x, 64, BLOCK=64)
    except enceladus.CudaError as error:
        print(error)
""",
        FAKE_CUDA_FAIL="cuDevicePrimaryCtxRetain=700",
    )
    assert len(out.splitlines()) == 2
    assert all("cuDevicePrimaryCtxRetain answered" in line for line in out.splitlines())


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
