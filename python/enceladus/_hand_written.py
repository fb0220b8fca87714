"""What launches of hand-written Metal and CUDA kernels share: parameters, scalars, the grid.

Reading the text is each target's own (metal.py, cuda.py).
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from enceladus import _core
from enceladus.interop.dtypes import numpy_dtype

__all__ = ["HandWrittenKernel", "Parameter", "split_arguments"]

_MOST_THREADS = 1024


@dataclass(frozen=True)
class Parameter:
    """One parameter that a launch passes.

    Attributes:
        name: as declared.
        dtype: of the scalar or of the array's elements; empty for arrays of any type.
        is_array: whether an array is passed, else a number.
        is_written: whether the kernel may store to the array.
        slot: its buffer index.
    """

    name: str
    dtype: str
    is_array: bool
    is_written: bool
    slot: int


class HandWrittenKernel:
    """A kernel from a target's own text.

    Attributes:
        name: of the kernel function.
        source: the text.
        parameters: what a launch passes, in order.
    """

    _target: ClassVar[str]
    _kernel: _core.TextKernel

    def __init__(self, source: str, name: str, parameters: tuple[Parameter, ...]) -> None:
        self.name = name
        self.source = source
        self.parameters = parameters

    def _described(self) -> list[tuple[str, str, bool, bool, int]]:
        return [(p.name, p.dtype, p.is_array, p.is_written, p.slot) for p in self.parameters]

    def __repr__(self) -> str:
        return f"<enceladus.{type(self).__name__} {self.name}>"

    def __getitem__(self, shape: tuple[Any, Any]) -> Callable[..., None]:
        """The launcher for a grid of programs and the threads of each."""
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise TypeError(f"`{self.name}` is launched as {self.name}[grid, threads](...)")
        grid = extents(shape[0], "grid", self.name)
        threads = extents(shape[1], "threads", self.name)
        if not 1 <= math.prod(threads) <= _MOST_THREADS:
            raise ValueError(
                f"threads={shape[1]!r} for `{self.name}` is {math.prod(threads)} threads a "
                f"program; {self._target} takes 1 to {_MOST_THREADS}"
            )

        def launch(*args: Any) -> None:
            self._kernel.launch(grid, threads, self._values(args))

        return launch

    def _values(self, args: tuple[Any, ...]) -> list[Any]:
        if len(args) != len(self.parameters):
            names = ", ".join(parameter.name for parameter in self.parameters)
            raise TypeError(
                f"`{self.name}` takes {len(self.parameters)} arguments ({names}), "
                f"but {len(args)} were given"
            )
        return [
            value if parameter.is_array else scalar_bits(value, parameter, self.name)
            for parameter, value in zip(self.parameters, args, strict=True)
        ]


def extents(value: Any, what: str, name: str) -> tuple[int, int, int]:
    """One to three extents as three."""
    items = value if isinstance(value, (tuple, list)) else (value,)
    try:
        numbers = [operator.index(item) for item in items]
    except TypeError:
        numbers = []
    if not 1 <= len(numbers) <= 3:
        raise TypeError(f"{what}={value!r} for `{name}`: an int or one to three of them")
    if any(not 0 <= number < 2**31 for number in numbers):
        raise ValueError(f"{what}={value!r} for `{name}`: extents are from 0 to 2147483647")
    x, y, z = [*numbers, 1, 1][:3]
    return x, y, z


def scalar_bits(value: Any, parameter: Parameter, name: str) -> int:
    """A number's bits in the type that the text declares."""
    dtype = numpy_dtype(parameter.dtype)
    where = f"argument `{parameter.name}` of `{name}`"
    is_number = isinstance(value, (bool, int, float, np.generic)) or hasattr(value, "__index__")
    if not is_number or (
        parameter.dtype[:1] not in "bf" and isinstance(value, (float, np.floating))
    ):
        raise TypeError(f"{where} is {value!r}, but is declared {parameter.dtype}")
    try:
        if dtype.kind in "iu":
            number = operator.index(value)
            limits = np.iinfo(dtype)
            if not limits.min <= number <= limits.max:
                raise OverflowError(f"{where} is {number}, which {parameter.dtype} does not hold")
            return number & ((1 << (8 * dtype.itemsize)) - 1)
        data = np.asarray(value).astype(dtype).tobytes()
    except (TypeError, ValueError) as error:
        raise TypeError(f"{where} is {value!r}: {error}") from None
    bits: int = struct.unpack("<Q", data.ljust(8, b"\0"))[0]
    return bits


def split_arguments(text: str, start: int) -> list[str]:
    """What stands between the parentheses that open before `start`, at its top-level commas."""
    depth, begin, pieces = 0, start, []
    for position in range(start, len(text)):
        letter = text[position]
        if letter == ")" and depth == 0:
            pieces.append(text[begin:position])
            return [piece.strip() for piece in pieces if piece.strip()]
        if letter == "," and depth == 0:
            pieces.append(text[begin:position])
            begin = position + 1
        depth += (letter in "(<[") - (letter in ")>]")
    raise ValueError("the text ends inside a parameter list")
