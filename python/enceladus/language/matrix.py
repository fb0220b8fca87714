"""Matrix products."""

from enceladus.language._registry import Tile, builtin
from enceladus.language.core import dtype as element_type
from enceladus.language.core import float32


@builtin()
def dot(
    a: Tile,
    b: Tile,
    acc: Tile = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: element_type = float32,
) -> Tile:
    """The matrix product `a @ b`, added to `acc`.

    Args:
        a: a tile of shape (M, K): float8, float16, bfloat16, float32, float64, or an integer type.
        b: a tile of shape (K, N) of the same type; of the two float8 types, either.
        acc: a tile of shape (M, N) to add to; its type is the result's.
        input_precision: "ieee" (the default, full float32), "tf32" or "tf32x3"; the last two
            permit less where the target has it.
        allow_tf32: True is `input_precision="tf32"`.
        max_num_imprecise_acc: how many products of float8 may be summed with less than float32;
            any number. At most K: none on any target.
        out_dtype: type of the result without `acc`: float32; float16 or bfloat16 for operands of
            the same type, float16 also for float8. float64 gives float64 and integers give int32.

    Returns:
        A tile of shape (M, N). Floats accumulate in float32 (float64 in float64), int8 and uint8
        exactly, int16 and int32 wrapping.

    Raises:
        CompilationError: the inner extents or the types differ, or K is below 8.

    Example:
        >>> acc = tl.dot(a, b, acc)
    """
