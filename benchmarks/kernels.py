"""The kernels of `examples/`, and random arrays in the forms that contenders take."""

import functools
import importlib.util
from pathlib import Path

import numpy as np
import torch

import enceladus


@functools.cache
def example(name):
    """The module of an example, by file name without `.py`."""
    path = Path(__file__).parents[1] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Arrays:
    """One NumPy array and what shares its memory: `.numpy`, `.tensor`, `.torch`."""

    def __init__(self, array):
        self.numpy = array
        self.tensor = enceladus.from_numpy(array)
        self.torch = torch.from_numpy(array)


def random(*shape, seed=0):
    """float32 from a normal distribution."""
    return Arrays(np.random.default_rng(seed).standard_normal(shape, np.float32))


def empty(*shape, dtype=np.float32):
    """An output, its pages touched."""
    return Arrays(np.zeros(shape, dtype))
