"""The matrix product."""

from typing import Any

import numpy as np

from enceladus.interpreter.context import fail
from enceladus.interpreter.numpy_types import is_half, numpy_type
from enceladus.interpreter.promotion import to_value
from enceladus.interpreter.values import TABLE, Value, describe
from enceladus.language import core
from enceladus.language.core import dtype, unwrap

MIN_INNER = 8
PRECISIONS = (None, "ieee", "tf32", "tf32x3")


def dot(
    a: Any,
    b: Any,
    acc: Any = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: dtype = core.float32,
) -> Value:
    left, right = to_value(a), to_value(b)
    _check_operands(left, right)
    if unwrap(input_precision) not in PRECISIONS:
        fail(f"input_precision is one of {PRECISIONS[1:]}, not {unwrap(input_precision)!r}")
    start = None if acc is None else to_value(acc)
    result = _result_type(left.dtype, unwrap(out_dtype), start)
    wide = np.dtype(np.int64) if left.dtype.is_int() else _accumulator(left.dtype)
    product = np.matmul(left.data.astype(wide), right.data.astype(wide))
    if start is not None:
        shape = (left.shape[0], right.shape[1])
        if start.shape != shape:
            fail(f"acc is a {describe(start)}; the product has shape {shape}")
        product = product + start.data.astype(wide)
    return Value(product.astype(numpy_type(result)), result)


def _check_operands(left: Value, right: Value) -> None:
    if len(left.shape) != 2 or len(right.shape) != 2:
        fail(f"`tl.dot` takes two matrices, not {describe(left)} and {describe(right)}")
    if left.dtype != right.dtype and not (left.dtype.is_fp8() and right.dtype.is_fp8()):
        fail(f"`tl.dot` takes one type, not `{left.dtype.name}` and `{right.dtype.name}`")
    if left.dtype.is_ptr() or left.dtype.name in ("int1", "int64", "uint16", "uint32", "uint64"):
        fail(f"`tl.dot` does not take `{left.dtype.name}`")
    inner, rows = left.shape[1], right.shape[0]
    if inner != rows:
        fail(f"`a` has {inner} columns but `b` has {rows} rows")
    if inner < MIN_INNER:
        fail(
            f"`tl.dot` takes an inner extent of {MIN_INNER} and more, not {inner}", "pad with zeros"
        )


def _accumulator(element: dtype) -> np.dtype[Any]:
    narrow = is_half(element) or element.is_fp8()
    return np.dtype(np.float32) if narrow else numpy_type(element)


def _result_type(element: dtype, out_dtype: dtype, acc: Value | None) -> dtype:
    if element.is_int():
        allowed = ["int32"]
    elif is_half(element):
        allowed = ["float32", element.name]
    elif element.is_fp8():
        allowed = ["float32", "float16"]
    else:
        allowed = [element.name]
    wanted = acc.dtype if acc is not None else out_dtype
    if acc is None and (element.is_int() or element.is_fp64()):
        wanted = dtype(allowed[0])
    if wanted.name not in allowed:
        fail(f"`tl.dot` of `{element.name}` gives {' or '.join(allowed)}, not `{wanted.name}`")
    return wanted


TABLE["dot"] = dot
