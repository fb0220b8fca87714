"""The kernels of `kernels.py` as Triton's: the same text with the imports exchanged."""

import functools
import importlib.util
import tempfile
from pathlib import Path

import torch

EXCHANGED = (
    ("import enceladus.language as tl", "import triton.language as tl"),
    ("import enceladus\n", "import triton\n"),
    ("@enceladus.jit", "@triton.jit"),
    ('enceladus.jit(bias_gelu_kernel.fn, math_mode="fast")', "bias_gelu_kernel"),
)


@functools.cache
def triton_kernels():
    """A module of Triton kernels; None where Triton is not installed."""
    try:
        import triton
    except ImportError:
        return None
    text = Path(__file__).with_name("kernels.py").read_text()
    for ours, theirs in EXCHANGED:
        text = text.replace(ours, theirs)
    folder = Path(tempfile.mkdtemp(prefix="triton-kernels"))
    path = folder / "triton_kernels.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("triton_kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Descriptors made inside a kernel need memory for their tensor maps.
    triton.set_allocator(
        lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8)
    )
    return module


@functools.cache
def compiled(function):
    """torch.compile of a function, for one shape."""
    return torch.compile(function, dynamic=False)


@functools.cache
def tuned(function):
    """The same, with the compiler's own search among its kernels and libraries' for products."""
    return torch.compile(function, dynamic=False, mode="max-autotune-no-cudagraphs")
