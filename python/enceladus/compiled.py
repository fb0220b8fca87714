"""What compiling gives: `CompiledKernel`, and the stand-ins that warmup takes for arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from enceladus._core import Artifact, LoadedKernel, assembly
from enceladus._dependencies import (
    MISSING,
    Record,
    UnstableError,
    fingerprint,
    is_mutable,
    present_value,
)

__all__ = ["CompiledKernel", "MockTensor", "describe_stand_in"]


@dataclass(frozen=True)
class MockTensor:
    """Stands for an array in `warmup` and `explain`: a type without memory.

    Attributes:
        dtype: a `tl` dtype, a NumPy dtype or a name.
        shape: informs the reader alone; compiled code serves every shape.
        aligned: whether the array would start at a multiple of 16 bytes.

    Example:
        >>> import enceladus
        >>> enceladus.MockTensor("float16").aligned
        True
    """

    dtype: Any
    shape: tuple[int, ...] | None = None
    aligned: bool = True


def describe_stand_in(value: object) -> tuple[str, bool] | None:
    """(dtype name, aligned) of a MockTensor or a dtype; None for anything else."""
    if isinstance(value, MockTensor):
        return dtype_name(value.dtype), value.aligned
    is_dtype = type(value).__name__ == "dtype" or type(value).__module__ == "numpy.dtypes"
    scalar_type = isinstance(value, type) and value.__module__ in ("numpy", "ml_dtypes")
    return (dtype_name(value), True) if is_dtype or scalar_type else None


def dtype_name(dtype: object) -> str:
    """The language's name of a dtype given as name, `tl` dtype, NumPy or torch dtype."""
    if isinstance(dtype, str):
        name = dtype
    elif isinstance(dtype, type):
        name = dtype.__name__
    else:
        name = str(getattr(dtype, "name", dtype))
    name = name.removeprefix("torch.")
    return "int1" if name in ("bool", "bool_") else name


class CompiledKernel:
    """A kernel compiled for one specialization.

    Attributes:
        name: the kernel's name.
        artifact: everything the compiler said about it.
        dependencies: what it was compiled from besides its own text: (owner, name, value) records.
        num_warps: as launched.
        registers: of a thread; None where unknown.
        spills: bytes of a thread; None where unknown.
        timings: milliseconds of each stage of the compilation; empty where a cache had it.
    """

    def __init__(
        self,
        artifact: Artifact,
        dependencies: Sequence[Record],
        timings: dict[str, float] | None = None,
    ) -> None:
        self.timings = timings or {}
        self.artifact = artifact
        self.name = artifact.kernel
        self._stages: dict[str, str] | None = None
        # Filled by the launch path.
        self.loaded: LoadedKernel | None = None
        self.mps_kernel: Any = None
        self.mlx_kernel: Any = None
        self.dependencies = list(dependencies)
        self.fingerprints = [stable_fingerprint(value) for _, _, value in dependencies]
        # Where identity proves nothing, the launch path asks `is_current` at each launch.
        self.has_mutable_dependencies = any(is_mutable(value) for _, _, value in dependencies)

    def is_current(self) -> bool:
        """Whether every dependency still means what it meant; takes over equal new objects."""
        present: list[Record] = []
        for (owner, name, old), known in zip(self.dependencies, self.fingerprints, strict=True):
            value = present_value(owner, name)
            if value is MISSING:
                return False
            same = value is old if known is None else stable_fingerprint(value) == known
            if not same:
                return False
            present.append((owner, name, value))
        self.dependencies = present
        return True

    @property
    def num_warps(self) -> int:
        """SIMD groups of a program."""
        return self.artifact.num_warps

    @property
    def shared_memory_bytes(self) -> int:
        """Shared (threadgroup) memory of a program."""
        return self.artifact.shared_bytes

    @property
    def threadgroup_memory_bytes(self) -> int:
        """The same under Metal's name."""
        return self.artifact.shared_bytes

    @property
    def registers(self) -> int | None:
        """Registers of a thread; None where unknown."""
        return None if self.artifact.registers < 0 else self.artifact.registers

    @property
    def spills(self) -> int | None:
        """Bytes a thread spills; None where unknown."""
        return None if self.artifact.spills < 0 else self.artifact.spills

    @property
    def asm(self) -> dict[str, str]:
        """Every stage by name, in the order in which they were made.

        The CPU's assembly, "asm", is written from the LLVM IR when this is first read.
        """
        if self._stages is None:
            self._stages = self.artifact.stages
            if self.artifact.target == "cpu" and "llir" in self._stages:
                self._stages["asm"] = assembly(self._stages["llir"])
        return self._stages

    @property
    def ir(self) -> str:
        """The tile IR after the target-independent passes."""
        return self._stage("ir")

    @property
    def source(self) -> str:
        """The text given to the target's own compiler: `msl`, `cuda` or `llir`."""
        return self._stage({"cpu": "llir", "cuda": "cuda"}.get(self.artifact.target, "msl"))

    @property
    def llir(self) -> str:
        """LLVM IR (CPU)."""
        return self._stage("llir")

    @property
    def msl(self) -> str:
        """Metal Shading Language (Metal and its simulator)."""
        return self._stage("msl")

    @property
    def cuda(self) -> str:
        """CUDA C++ (CUDA)."""
        return self._stage("cuda")

    def _stage(self, name: str) -> str:
        stages = self.artifact.stages
        if name not in stages:
            raise AttributeError(
                f"`{self.name}` compiled for {self.artifact.target} has no stage {name!r}; it has "
                f"{', '.join(stages)}"
            )
        return stages[name]

    def __repr__(self) -> str:
        return f"<enceladus.CompiledKernel {self.name} for {self.artifact.target}>"


def stable_fingerprint(value: Any) -> str | None:
    """The fingerprint, or None where a value is known by identity alone."""
    try:
        return fingerprint(value)
    except UnstableError:
        return None
