"""What a tuning result depends on beside the arguments: kernel, compiler, device."""

from __future__ import annotations

import os
from typing import Any

from enceladus._core import current_device, device_description, host_identity
from enceladus._environment import read

__all__ = ["kernel_identity"]


def kernel_identity(kernel: Any) -> list[str]:
    """The texts that tell one kernel, compiler and device from another."""
    threads = read("NUM_THREADS") or os.cpu_count()
    device = device_description(current_device())
    return [kernel.digest(), host_identity(), f"{threads} threads", device]
