"""NVRTC by ctypes: CUDA C++ text to machine code, on any machine that has the library."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PACKAGES = ("nvidia.cu13", "nvidia.cuda_nvrtc")


@dataclass(frozen=True)
class Compiled:
    """What NVRTC says of one kernel.

    Attributes:
        cubin: machine code; empty where the text was refused.
        log: messages, and ptxas's figures.
    """

    cubin: bytes
    log: str

    def figure(self, pattern: str) -> int:
        """The number in front of a phrase of ptxas's, such as `bytes spill stores`."""
        found = re.search(rf"(\d+) {pattern}", self.log)
        assert found, f"ptxas said nothing of {pattern}: {self.log}"
        return int(found[1])

    @property
    def spills(self) -> int:
        """Bytes a thread stores and loads for want of registers."""
        return self.figure("bytes spill stores") + self.figure("bytes spill loads")

    @property
    def registers(self) -> int:
        """Registers of a thread."""
        found = re.search(r"Used (\d+) registers", self.log)
        assert found, self.log
        return int(found[1])


def _folders() -> list[Path]:
    folders = []
    for name in _PACKAGES:
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            continue
        for place in (spec and spec.submodule_search_locations) or []:
            folders.append(Path(place) / "lib")
    return [*folders, Path("/usr/local/cuda/lib64")]


@cache
def library() -> ctypes.CDLL | None:
    """NVRTC of a `nvidia-cuda-nvrtc` package or of the system; None where there is none."""
    for folder in _folders():
        for path in sorted(folder.glob("libnvrtc.so.*[0-9]")):
            # NVRTC opens its builtins by name: a library that is loaded is found.
            for builtins in folder.glob("libnvrtc-builtins.so.*[0-9]"):
                ctypes.CDLL(str(builtins))
            return ctypes.CDLL(str(path))
    name = ctypes.util.find_library("nvrtc")
    return ctypes.CDLL(name) if name else None


def _text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.raw


def compile_text(text: str, architecture: str = "sm_90a") -> Compiled:
    """Machine code for an architecture; nothing but NVRTC is needed, no header and no GPU."""
    nvrtc = library()
    assert nvrtc is not None
    program = ctypes.c_void_p()
    source = ctypes.c_char_p(text.encode())
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
    options = [f"--gpu-architecture={architecture}", "--std=c++17", "--ptxas-options=-v"]
    options.append("--minimal")  # as runtime/cuda does
    arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = nvrtc.nvrtcCompileProgram(program, len(options), arguments)
    log = _text(nvrtc, program, "ProgramLog").decode().rstrip("\0")
    cubin = _text(nvrtc, program, "CUBIN") if status == 0 else b""
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return Compiled(cubin, log)
