"""What a tuning result depends on beside the arguments: kernel, compiler, device."""

from __future__ import annotations

import functools
import os
import platform
import re
from pathlib import Path
from typing import Any

from enceladus._environment import read

__all__ = ["kernel_identity"]


@functools.cache
def _processor() -> str:
    """The CPU's name."""
    try:
        match = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        match = None
    return match[1] if match else platform.processor() or platform.machine()


def kernel_identity(kernel: Any) -> list[str]:
    """The texts that tell one kernel, compiler and device from another."""
    threads = read("NUM_THREADS") or os.cpu_count()
    return [kernel.digest(), _processor(), f"{threads} threads"]
