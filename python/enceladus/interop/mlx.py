"""MLX arrays as arguments: evaluated and waited for, or joined to MLX's graph.

An MLX array is a value that may not be computed yet. By default a launch evaluates its MLX
arguments, works on their memory, which the host shares, and waits. With `lazy_mlx(True)`, a launch
becomes a node of MLX's graph by `mx.fast.metal_kernel`: arrays that the kernel only writes are
given new contents, computed when MLX evaluates them.

What is relied on, of MLX's documentation: `numpy.asarray(x)` evaluates and shares memory;
`metal_kernel(name, input_names, output_names, source, header)` writes the signature around the body
in `source`, where inputs of fewer than 8 elements are in constant memory and attributes such as
`thread_index_in_simdgroup` are there by name; `x[...] = y` makes `x` the value `y`.
Nobody has run this on Apple hardware yet; the tests use a stand-in that does what is said here.
"""

from __future__ import annotations

import hashlib
import logging
import math
import re
import struct
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from enceladus import _core
from enceladus._hand_written import split_arguments
from enceladus.interop.dtypes import dtype_name, numpy_dtype
from enceladus.interop.mps import obstacle_of

__all__ = ["MlxKernel", "describe", "evaluated", "lazy_mlx", "prepare"]

_log = logging.getLogger("enceladus")
_FEWEST = 8  # elements of an input that MLX binds as device memory
_MOST_THREADS = 2**31 - 1  # of a grid's axis


def lazy_mlx(enabled: bool) -> None:
    """Chooses whether launches on MLX arrays join MLX's graph.

    Args:
        enabled: False, the default, evaluates the arrays at once and waits for the result. True
            makes a launch a node of MLX's graph where all arrays are MLX's and the kernel does not
            read those that it writes: these get new contents, zero where it stores nothing. A
            launch that cannot join is done at once, and a warning says why, once a kernel.
    """
    _core.set_mlx_lazy(bool(enabled))


def evaluated(array: Any) -> tuple[Any, bool]:
    """An MLX array's elements in C order as NumPy, and whether it is broadcast.

    The memory is the array's own where that has each element once and in C order; else it is a copy
    that nothing may write to.
    """
    host = as_numpy(array)
    if host.flags.c_contiguous:
        return host, False
    is_broadcast = any(
        stride == 0 and extent > 1 for stride, extent in zip(host.strides, host.shape, strict=True)
    )
    copy = np.ascontiguousarray(host)
    copy.flags.writeable = False
    return copy, is_broadcast


def as_numpy(array: Any) -> Any:
    """NumPy's view of an MLX array's memory."""
    if dtype_name(array.dtype) != "bfloat16":
        return np.asarray(array)
    # NumPy has no such type of its own to share memory as.
    return np.asarray(array.view(_mlx().uint16)).view(numpy_dtype("bfloat16"))


def describe(array: Any) -> tuple[str, int]:
    """(dtype, count of elements) of an array that stays unevaluated."""
    return dtype_name(array.dtype), int(array.size)


@dataclass(frozen=True)
class KernelBody:
    """A kernel's text taken apart for `mx.fast.metal_kernel`.

    Attributes:
        header: what stands before the kernel.
        body: what stands between its braces.
        parameters: each as declared, with attributes.
    """

    header: str
    body: str
    parameters: tuple[str, ...]


def take_apart(source: str, entry: str) -> KernelBody:
    """Splits Metal text at its last function, the kernel `entry`, which the compiler wrote."""
    start = source.index(f"kernel void {entry}(")
    header = source[:start].rsplit("[[max_total_threads_per_threadgroup", 1)[0]
    opening = source.index("(", start) + 1
    parameters = split_arguments(source, opening)
    body = source[source.index("{", opening) + 1 : source.rindex("}")]
    return KernelBody(header, body, tuple(parameters))


class MlxKernel:
    """One compiled kernel as a node of MLX's graph."""

    def __init__(self, artifact: _core.Artifact) -> None:
        self.name = artifact.kernel
        self._pointers = [parameter for parameter in artifact.parameters if parameter.is_pointer]
        self._text = take_apart(artifact.stages["msl"], artifact.entry)
        self._node: Any = None
        self._warned = False
        self._obstacle = obstacle_of(artifact) or self._unfit(artifact)

    def _unfit(self, artifact: _core.Artifact) -> str | None:
        if artifact.language_version >= 40:
            return "it needs Metal 4, which MLX does not compile for"
        for parameter in self._pointers:
            if parameter.is_written and parameter.is_read:
                return f"it reads `{parameter.name}` and writes it"
        if not any(parameter.is_written for parameter in self._pointers):
            return "it writes no array"
        return None

    def launch(
        self, values: list[Any], grid: tuple[int, int, int], threads: tuple[int, int, int]
    ) -> bool:
        """Gives the arrays that the kernel writes their new contents, not computed yet.

        Args: see `MpsKernel.launch`.

        Returns:
            False where the launch cannot join the graph; that was logged, and nothing has changed.
        """
        total = tuple(programs * each for programs, each in zip(grid, threads, strict=True))
        reason = self._obstacle or self._unjoinable(values, total)
        if reason is not None:
            if not self._warned:
                self._warned = True
                _log.warning(
                    "kernel `%s` does not join MLX's graph, but is done at once: %s",
                    self.name,
                    reason,
                )
            return False
        mx = _mlx()
        arrays, blocks = values[: len(self._pointers)], values[len(self._pointers) :]
        named = list(zip(self._pointers, arrays, strict=True))
        inputs = [padded(mx, array) for parameter, array in named if not parameter.is_written]
        inputs += [mx.array(words(block), dtype=mx.uint32) for block in blocks]
        outputs = [array for parameter, array in named if parameter.is_written]
        if self._node is None:
            self._node = self._make_node(mx, bool(blocks))
        results = self._node(
            inputs=inputs,
            output_shapes=[tuple(array.shape) for array in outputs],
            output_dtypes=[array.dtype for array in outputs],
            grid=total,
            threadgroup=threads,
            init_value=0,
        )
        for array, result in zip(outputs, results, strict=True):
            array[...] = result
        return True

    def _unjoinable(self, values: list[Any], total: tuple[int, ...]) -> str | None:
        mx = _mlx()
        for parameter, value in zip(self._pointers, values, strict=False):
            if not isinstance(value, mx.array):
                return f"`{parameter.name}` is no MLX array"
            if parameter.is_written and value.size == 0:
                return f"`{parameter.name}` has no elements"
        if max(total) > _MOST_THREADS:
            return f"its grid of {max(total)} threads is more than MLX takes"
        return None

    def _make_node(self, mx: Any, has_scalars: bool) -> Any:
        """The node's text: MLX's parameters under the names that the kernel's text has for them."""
        lines: list[str] = []
        inputs: list[str] = []
        outputs: list[str] = []
        for number, parameter in enumerate(self._text.parameters):
            declared = re.sub(r"\[\[.*?\]\]", "", parameter).strip()
            name = re.findall(r"\w+", declared)[-1]
            attribute = re.search(r"\[\[(\w+)\]\]", parameter)
            if attribute is not None:
                lines.append(f"const {declared} = {attribute[1]};")
            elif number < len(self._pointers):
                is_written = self._pointers[number].is_written
                given = f"enceladus_{'out' if is_written else 'in'}{number}"
                (outputs if is_written else inputs).append(given)
                space_and_type = declared[: declared.rindex(name)].strip()
                lines.append(f"{space_and_type} {name} = ({space_and_type}){given};")
        if has_scalars:
            inputs.append("enceladus_scalars")
            lines.append("const Scalars scalars = *(device const Scalars*)enceladus_scalars;")
        source = "\n".join(lines) + self._text.body
        digest = hashlib.sha256((self._text.header + source).encode()).hexdigest()[:12]
        return mx.fast.metal_kernel(
            name=f"enceladus_{self.name}_{digest}",
            input_names=inputs,
            output_names=outputs,
            source=source,
            header=self._text.header,
        )


def prepare(artifact: _core.Artifact) -> MlxKernel:
    """The kernel as a node of MLX's graph."""
    return MlxKernel(artifact)


def padded(mx: Any, array: Any) -> Any:
    """The array with enough elements to be bound as device memory."""
    if array.size >= _FEWEST:
        return array
    return mx.concatenate([mx.reshape(array, (-1,)), mx.zeros((_FEWEST,), array.dtype)])


def words(block: bytes) -> list[int]:
    """A block of scalars as 32-bit words, as many as device memory takes."""
    count = max(_FEWEST, math.ceil(len(block) / 4))
    return list(struct.unpack(f"<{count}I", block.ljust(4 * count, b"\0")))


def _mlx() -> Any:
    return sys.modules["mlx.core"]
