"""Ctrl-C gets out of every wait for a kernel, and leaves a process that works."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import enceladus
import enceladus.language as tl

pytestmark = pytest.mark.skipif(
    "cpu" not in [device.name for device in enceladus.devices()], reason="no CPU target"
)


class Pressed(Exception):
    """What the signal handler of these tests raises in place of KeyboardInterrupt."""


@pytest.fixture
def press_soon():
    """Sends this process a signal every second, until something has come of it."""

    def raise_pressed(number, frame):
        raise Pressed

    before = signal.signal(signal.SIGUSR1, raise_pressed)
    over = threading.Event()

    def press():
        while not over.wait(1):
            os.kill(os.getpid(), signal.SIGUSR1)

    thread = threading.Thread(target=press)
    thread.start()
    yield
    over.set()
    thread.join()
    signal.signal(signal.SIGUSR1, before)


@enceladus.jit
def endless_kernel(x_ptr):
    while tl.load(x_ptr, volatile=True) == 0:
        pass


@enceladus.jit
def endless_tiles_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    while tl.sum(tl.load(x_ptr + offsets)) < 1:
        tl.store(x_ptr + offsets, tl.zeros((BLOCK,), tl.int32))


@enceladus.jit
def slow_kernel(x_ptr, n):
    total = 0
    for i in range(n):
        total = total * 3 + tl.load(x_ptr + i % 7, volatile=True)
    tl.store(x_ptr + 8, total)


@enceladus.jit
def increment_kernel(x_ptr):
    offsets = tl.arange(0, 16)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + 1)


def check_usable():
    x = enceladus.zeros(16, dtype="int32", device="cpu")
    increment_kernel[(1,)](x)
    assert x.tolist() == [1] * 16
    y = np.zeros(16, np.int32)
    with enceladus.device("cpu"):
        increment_kernel[(1,)](y)
    assert (y == 1).all()


LAUNCHES = {
    "endless": lambda x: endless_kernel[(4,)](x),
    "endless over tiles": lambda x: endless_tiles_kernel[(4,)](x, BLOCK=16),
    "many programs": lambda x: slow_kernel[(1 << 20,)](x, 1_000_000),
}


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=LAUNCHES.keys())
def test_ctrl_c_gets_out_of_a_launch_on_numpy_arrays(press_soon, launch):
    with pytest.raises(Pressed), enceladus.device("cpu"):
        launch(np.zeros(16, np.int32))
    check_usable()


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=LAUNCHES.keys())
def test_ctrl_c_gets_out_of_a_synchronization(press_soon, launch):
    x = enceladus.zeros(16, dtype="int32", device="cpu")
    later = enceladus.zeros(16, dtype="int32", device="cpu")
    launch(x)
    increment_kernel[(1,)](later)
    with pytest.raises(Pressed), enceladus.device("cpu"):
        enceladus.synchronize()
    assert later.tolist() == [0] * 16  # given up with the launch that it waited behind
    check_usable()


def test_ctrl_c_gets_out_of_a_launch_that_finds_the_queue_full(press_soon):
    x = enceladus.zeros(16, dtype="int32", device="cpu")
    with pytest.raises(Pressed):
        endless_kernel[(1,)](x)
        for _ in range(10_000):
            increment_kernel[(1,)](x)
    check_usable()


def test_a_wait_on_another_thread_ends_when_the_main_thread_gives_up(press_soon):
    x = enceladus.zeros(16, dtype="int32", device="cpu")
    endless_kernel[(1,)](x)
    other = threading.Thread(target=x.tolist)
    other.start()
    with pytest.raises(Pressed):
        x.tolist()
    other.join(timeout=20)
    assert not other.is_alive()
    check_usable()


AT_EXIT = """
import signal
import enceladus, enceladus.language as tl

signal.signal(signal.SIGINT, signal.default_int_handler)  # the background ignores it

@enceladus.jit
def endless(x_ptr):
    while tl.load(x_ptr, volatile=True) == 0:
        pass

x = enceladus.zeros(1, dtype="int32", device="cpu")
endless[(1,)](x)
print("launched", flush=True)
"""


def test_ctrl_c_ends_a_program_that_waits_at_its_exit(tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(AT_EXIT)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "launched\n", process.stderr.read()
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
