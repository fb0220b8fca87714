"""A process ends as it should while threads launch and compile."""

import subprocess
import sys
import textwrap

import pytest

import enceladus

pytestmark = pytest.mark.skipif(
    "cpu" not in [device.name for device in enceladus.devices()], reason="no CPU target"
)

KERNEL = """
import threading
import time
import numpy as np
import enceladus
import enceladus.language as tl

@enceladus.jit
def increase_kernel(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

x = np.zeros(1 << 16, np.float32)
increase_kernel[(16,)](x, x.size, BLOCK=4096)

def launch():
    while True:
        increase_kernel[(16,)](x, x.size, BLOCK=4096)

def compile():
    while True:
        enceladus.jit(increase_kernel.fn)[(16,)](x, x.size, BLOCK=4096)
"""


@pytest.mark.parametrize("work", ["launch", "compile"])
@pytest.mark.parametrize("milliseconds", [1, 30, 60])
def test_a_process_ends_while_daemon_threads_use_kernels(work, milliseconds, tmp_path, monkeypatch):
    """Python ends such a thread where it takes the interpreter lock back: the process aborted."""
    monkeypatch.setenv("ENCELADUS_DEVICE", "cpu")
    monkeypatch.setenv("ENCELADUS_ALWAYS_COMPILE", "1")
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(KERNEL)
        + f"for _ in range(3):\n    threading.Thread(target={work}, daemon=True).start()\n"
        + f"time.sleep({milliseconds / 1000})\nprint('end')\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_what_runs_at_the_exit_may_still_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("ENCELADUS_DEVICE", "cpu")
    script = tmp_path / "script.py"
    script.write_text(
        "import atexit\n@atexit.register\ndef last():\n"
        "    increase_kernel[(1,)](x, 8, BLOCK=8)\n    print(x[7], x[8])\n" + KERNEL
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "2.0 1.0\n"), done.stderr
