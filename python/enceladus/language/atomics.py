"""Atomic reads and writes of memory, ordered between the programs of a launch."""

from enceladus.language._registry import Tile, builtin


@builtin(method=True)
def atomic_add(
    pointer: Tile, val: Tile, mask: Tile = None, sem: str | None = None, scope: str | None = None
) -> Tile:
    """Atomically adds `val`, element by element.

    Args:
        pointer: a pointer or a tile of pointers.
            Any number type; float16 and bfloat16 by compare and swap.
        val: broadcast to the shape of `pointer`, converted to its element type.
        mask: int1, broadcast; memory is not touched where it is 0.
        sem: "acq_rel" (the default), "acquire", "release" or "relaxed".
        scope: "gpu" (the default), "cta" or "sys".

    Returns:
        What memory held before; 0 where the mask is 0.

    Raises:
        CompilationError: a type without this atomic on the target, or an unknown `sem`.

    Example:
        >>> tl.atomic_add(counts_ptr + bins, 1, mask=valid)
    """


@builtin(method=True)
def atomic_max(
    pointer: Tile, val: Tile, mask: Tile = None, sem: str | None = None, scope: str | None = None
) -> Tile:
    """Atomically keeps the larger of memory and `val`, element by element.

    Args:
        pointer: a pointer or a tile of pointers.
            Any number type; a float NaN is ignored unless both are NaN.
        val: broadcast to the shape of `pointer`, converted to its element type.
        mask: int1, broadcast; memory is not touched where it is 0.
        sem: "acq_rel" (the default), "acquire", "release" or "relaxed".
        scope: "gpu" (the default), "cta" or "sys".

    Returns:
        What memory held before; 0 where the mask is 0.

    Raises:
        CompilationError: a type without this atomic on the target, or an unknown `sem`.

    Example:
        >>> tl.atomic_max(counts_ptr + bins, 1, mask=valid)
    """


@builtin(method=True)
def atomic_min(
    pointer: Tile, val: Tile, mask: Tile = None, sem: str | None = None, scope: str | None = None
) -> Tile:
    """Atomically keeps the smaller of memory and `val`, element by element.

    Args:
        pointer: a pointer or a tile of pointers.
            Any number type; a float NaN is ignored unless both are NaN.
        val: broadcast to the shape of `pointer`, converted to its element type.
        mask: int1, broadcast; memory is not touched where it is 0.
        sem: "acq_rel" (the default), "acquire", "release" or "relaxed".
        scope: "gpu" (the default), "cta" or "sys".

    Returns:
        What memory held before; 0 where the mask is 0.

    Raises:
        CompilationError: a type without this atomic on the target, or an unknown `sem`.

    Example:
        >>> tl.atomic_min(counts_ptr + bins, 1, mask=valid)
    """


@builtin(method=True)
def atomic_and(
    pointer: Tile, val: Tile, mask: Tile = None, sem: str | None = None, scope: str | None = None
) -> Tile:
    """Atomically keeps the bitwise and of memory and `val`, element by element.

    Args:
        pointer: a pointer or a tile of pointers.
            Integers.
        val: broadcast to the shape of `pointer`, converted to its element type.
        mask: int1, broadcast; memory is not touched where it is 0.
        sem: "acq_rel" (the default), "acquire", "release" or "relaxed".
        scope: "gpu" (the default), "cta" or "sys".

    Returns:
        What memory held before; 0 where the mask is 0.

    Raises:
        CompilationError: a type without this atomic on the target, or an unknown `sem`.

    Example:
        >>> tl.atomic_and(counts_ptr + bins, 1, mask=valid)
    """


@builtin(method=True)
def atomic_or(
    pointer: Tile, val: Tile, mask: Tile = None, sem: str | None = None, scope: str | None = None
) -> Tile:
    """Atomically keeps the bitwise or of memory and `val`, element by element.

    Args:
        pointer: a pointer or a tile of pointers.
            Integers.
        val: broadcast to the shape of `pointer`, converted to its element type.
        mask: int1, broadcast; memory is not touched where it is 0.
        sem: "acq_rel" (the default), "acquire", "release" or "relaxed".
        scope: "gpu" (the default), "cta" or "sys".

    Returns:
        What memory held before; 0 where the mask is 0.

    Raises:
        CompilationError: a type without this atomic on the target, or an unknown `sem`.

    Example:
        >>> tl.atomic_or(counts_ptr + bins, 1, mask=valid)
    """


@builtin(method=True)
def atomic_xor(
    pointer: Tile, val: Tile, mask: Tile = None, sem: str | None = None, scope: str | None = None
) -> Tile:
    """Atomically keeps the bitwise exclusive or of memory and `val`, element by element.

    Args:
        pointer: a pointer or a tile of pointers.
            Integers.
        val: broadcast to the shape of `pointer`, converted to its element type.
        mask: int1, broadcast; memory is not touched where it is 0.
        sem: "acq_rel" (the default), "acquire", "release" or "relaxed".
        scope: "gpu" (the default), "cta" or "sys".

    Returns:
        What memory held before; 0 where the mask is 0.

    Raises:
        CompilationError: a type without this atomic on the target, or an unknown `sem`.

    Example:
        >>> tl.atomic_xor(counts_ptr + bins, 1, mask=valid)
    """


@builtin(method=True)
def atomic_xchg(
    pointer: Tile, val: Tile, mask: Tile = None, sem: str | None = None, scope: str | None = None
) -> Tile:
    """Atomically replaces memory by `val`, element by element.

    Args:
        pointer: a pointer or a tile of pointers.
            Any number type.
        val: broadcast to the shape of `pointer`, converted to its element type.
        mask: int1, broadcast; memory is not touched where it is 0.
        sem: "acq_rel" (the default), "acquire", "release" or "relaxed".
        scope: "gpu" (the default), "cta" or "sys".

    Returns:
        What memory held before; 0 where the mask is 0.

    Raises:
        CompilationError: a type without this atomic on the target, or an unknown `sem`.

    Example:
        >>> tl.atomic_xchg(counts_ptr + bins, 1, mask=valid)
    """


@builtin(method=True)
def atomic_cas(
    pointer: Tile, cmp: Tile, val: Tile, sem: str | None = None, scope: str | None = None
) -> Tile:
    """Atomically replaces memory by `val` where it holds the bits of `cmp`.

    Args:
        pointer: a pointer or a tile of pointers.
        cmp: the expected value, converted to the element type.
        val: the new value, converted to the element type.
        sem: "acq_rel" (the default), "acquire", "release" or "relaxed".
        scope: "gpu" (the default), "cta" or "sys".

    Returns:
        What memory held before.

    Raises:
        CompilationError: a type without this atomic on the target, or an unknown `sem`.

    Example:
        >>> while tl.atomic_cas(lock_ptr, 0, 1) == 1:
    """
