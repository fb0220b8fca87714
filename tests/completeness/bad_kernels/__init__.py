"""All kernels that the compiler must refuse."""

from . import calls, python_subset, tiles, values
from .registry import BAD, Bad

__all__ = ["BAD", "Bad", "calls", "python_subset", "tiles", "values"]
