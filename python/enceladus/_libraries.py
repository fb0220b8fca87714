"""Where Python packages keep shared libraries that the system's loader does not find."""

from __future__ import annotations

import os
import sys

__all__ = ["cuda_folders"]


def cuda_folders() -> list[str]:
    """The `lib` folders of NVIDIA's pip packages, in the order of `sys.path`."""
    found = []
    for entry in sys.path:
        packages = os.path.join(entry, "nvidia")
        if not os.path.isdir(packages):
            continue
        for package in sorted(os.listdir(packages)):
            folder = os.path.join(packages, package, "lib")
            if os.path.isdir(folder):
                found.append(folder)
    return found
