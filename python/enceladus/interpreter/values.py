"""`Value`: a tile or scalar of a running kernel, with its operators and methods.

What an operator computes is in `operators.py`, what a method does in the module of its group;
both are looked up in the table that `implementations.py` fills.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from enceladus.interpreter.context import TileConditionError, fail
from enceladus.interpreter.numpy_types import Array
from enceladus.language._registry import HELPERS, TILE_METHODS
from enceladus.language.core import dtype, tensor

# Builtin or operator name -> the function that computes it.
TABLE: dict[str, Callable[..., Any]] = {}


class Value(tensor):
    """A tile, a scalar (shape `()`), or a tile of pointers.

    Attributes:
        data: the elements; for pointers, element offsets from the start of `memory`.
        dtype: the element type.
        exact: for integers, the int64 values that unlimited precision would give where they
            differ from `data`; None where they do not. Pointers are made from these.
        memory: for pointers, the array they point into.
    """

    __slots__ = ("data", "dtype", "exact", "memory")
    __hash__ = None  # type: ignore[assignment]
    __iter__ = None
    __array_ufunc__ = None

    def __init__(
        self, data: Array, dtype: dtype, exact: Array | None = None, memory: Any = None
    ) -> None:
        self.data: Array = np.asarray(data)
        self.dtype = dtype
        self.exact = exact
        self.memory = memory

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents; empty for a scalar."""
        return self.data.shape

    @property
    def numel(self) -> int:
        """Number of elements."""
        return self.data.size

    @property
    def T(self) -> "Value":
        """The tile with its last two dimensions swapped."""
        result: Value = TABLE["trans"](self)
        return result

    def unlimited(self) -> Array:
        """int64 elements as unlimited precision would give them."""
        return self.data.astype(np.int64) if self.exact is None else self.exact

    def reshaped(self, change: Callable[[Array], Array]) -> "Value":
        """The value with a change of shape applied to its elements and their shadow."""
        exact = None if self.exact is None else change(self.exact)
        return Value(change(self.data), self.dtype, exact, self.memory)

    def __repr__(self) -> str:
        name = f"{self.dtype.name}{list(self.shape) if self.shape else ''}"
        return f"{name}({np.array2string(self.data, separator=', ', threshold=64)})"

    def __bool__(self) -> bool:
        self._require_scalar()
        return bool(self.data != 0)

    def __index__(self) -> int:
        self._require_scalar()
        if not self.dtype.is_int():
            fail(f"{describe(self)} cannot be used as an integer")
        return int(self.data)

    def __int__(self) -> int:
        self._require_scalar()
        return int(self.data)

    def __float__(self) -> float:
        self._require_scalar()
        return float(self.data)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{describe(self)} has no length")
        return self.shape[0]

    def _require_scalar(self) -> None:
        if self.shape:
            fail(
                f"a tile of shape {self.shape} cannot be a condition: `if`, `while`, `and`, `or`, "
                "`not` take a scalar",
                "use `tl.where` or a mask",
                TileConditionError,
            )

    def __getitem__(self, key: Any) -> "Value":
        keys = key if isinstance(key, tuple) else (key,)
        full = slice(None)
        if any(
            part is not None and not (isinstance(part, slice) and part == full) for part in keys
        ):
            fail("a tile is indexed with `:` and `None` only")
        if sum(part is not None for part in keys) > len(self.shape):
            fail(f"too many `:` for a tile of shape {self.shape}")
        return self.reshaped(lambda data: data[keys])


def describe(value: Value) -> str:
    """A value as messages name it: its type and shape."""
    return f"`{value.dtype.name}`" + (f" tile of shape {value.shape}" if value.shape else " scalar")


def _operator(name: str) -> Callable[[Value, Any], Any]:
    return lambda self, other: TABLE[name](self, other)


def _reflected(name: str) -> Callable[[Value, Any], Any]:
    return lambda self, other: TABLE[name](other, self)


def _method(name: str) -> Callable[..., Any]:
    def method(self: Value, *args: Any, **kwargs: Any) -> Any:
        return (HELPERS.get(name) or TABLE[name])(self, *args, **kwargs)

    return method


_ARITHMETIC = "add sub mul truediv floordiv mod lshift rshift and or xor pow".split()
for _name in _ARITHMETIC:
    setattr(Value, f"__{_name}__", _operator(f"operator {_name}"))
    setattr(Value, f"__r{_name}__", _reflected(f"operator {_name}"))
for _name in "eq ne lt le gt ge".split():
    setattr(Value, f"__{_name}__", _operator(f"operator {_name}"))
for _name in "neg pos invert".split():
    setattr(Value, f"__{_name}__", lambda self, name=_name: TABLE[f"operator {name}"](self))
Value.__abs__ = lambda self: TABLE["abs"](self)  # type: ignore[attr-defined]
for _method_name, _name in TILE_METHODS.items():
    setattr(Value, _method_name, _method(_name))
