"""A kernel whose launches stop where the compiler would start, and say what it would be given."""

from __future__ import annotations

from typing import Any

from enceladus.jit import JITFunction


class Compiling(Exception):  # noqa: N818 (not an error: the point that a test waits for)
    """Raised in place of compiling; holds the request."""

    def __init__(self, key: bytes, specs: list[tuple[Any, ...]], options: dict[str, Any]) -> None:
        super().__init__("the compiler was asked")
        self.key = key
        self.specs = specs
        self.options = options


class RecordingKernel(JITFunction):
    """Like a JITFunction until it comes to compiling."""

    def _specialize(
        self, key: bytes, specs: list[tuple[Any, ...]], options: dict[str, Any], launching: bool
    ) -> Any:
        raise Compiling(key, specs, options)


def request(kernel: JITFunction, *args: Any, grid: Any = (1,), **options: Any) -> Compiling:
    """What a launch would ask of the compiler."""
    try:
        kernel[grid](*args, **options)
    except Compiling as compiling:
        return compiling
    raise AssertionError("the launch did not come to compiling")
