"""Types and compile-time values of the language: `dtype`, `pointer_type`, `constexpr`.

Not here: functions (one module a group) and NumPy's view of a dtype (`interpreter/numpy_types.py`).
"""

import enum
import operator
from collections.abc import Callable
from typing import Any, Final


class PropagateNan(enum.Enum):
    """What `maximum`, `minimum` and `clamp` do with NaN.

    `NONE` ignores a NaN unless every operand is one; `ALL` gives NaN when any operand is one.
    """

    NONE = 0
    ALL = 1


class dtype:
    """An element type, such as `tl.float32`.

    Two dtypes are equal when their names are, and equal to that name as a string.

    Attributes:
        name: as in the language, for example `float32`; of the floats of 8 bits as in arrays,
            `float8_e4m3fn` for `tl.float8e4nv` and `float8_e5m2` for `tl.float8e5`.
        primitive_bitwidth: bits of the value; 1 for `int1`, which takes a byte in memory.

    Example:
        >>> tl.float16.primitive_bitwidth, tl.float16.is_floating()
        (16, True)
    """

    __slots__ = ("name", "primitive_bitwidth", "_kind")

    def __init__(self, name: str) -> None:
        if name not in _KINDS:
            raise ValueError(f"`{name}` is no dtype; there are {', '.join(_KINDS)}")
        self.name: Final = name
        self._kind: Final = _KINDS[name]
        kind, _, _ = name.partition("_")  # behind it, how float8 divides its bits
        digits = "".join(letter for letter in kind if letter.isdigit())
        self.primitive_bitwidth: Final = int(digits)

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory."""
        return max(self.primitive_bitwidth // 8, 1)

    @property
    def scalar(self) -> "dtype":
        """The dtype itself, as in Triton, where a tile's type has its element's type here."""
        return self

    def is_floating(self) -> bool:
        """Whether values are floats, float8 included."""
        return self._kind == "float"

    def is_int(self) -> bool:
        """Whether values are integers, `int1` included."""
        return self._kind in ("bool", "signed", "unsigned")

    def is_int_signed(self) -> bool:
        """Whether values are int8 to int64."""
        return self._kind == "signed"

    def is_int_unsigned(self) -> bool:
        """Whether values are uint8 to uint64."""
        return self._kind == "unsigned"

    def is_bool(self) -> bool:
        """Whether this is `int1`."""
        return self._kind == "bool"

    def is_ptr(self) -> bool:
        """Whether values are pointers."""
        return False

    def is_fp8(self) -> bool:
        """Whether this is `float8e4nv` or `float8e5`."""
        return self.is_fp8e4nv() or self.is_fp8e5()

    def is_fp8e4nv(self) -> bool:
        """Whether this is `float8e4nv`, elsewhere called float8_e4m3fn."""
        return self.name == "float8_e4m3fn"

    def is_fp8e5(self) -> bool:
        """Whether this is `float8e5`, elsewhere called float8_e5m2."""
        return self.name == "float8_e5m2"

    def is_fp16(self) -> bool:
        """Whether this is `float16`."""
        return self.name == "float16"

    def is_bf16(self) -> bool:
        """Whether this is `bfloat16`."""
        return self.name == "bfloat16"

    def is_fp32(self) -> bool:
        """Whether this is `float32`."""
        return self.name == "float32"

    def is_fp64(self) -> bool:
        """Whether this is `float64`."""
        return self.name == "float64"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, constexpr):
            other = other.value
        if isinstance(other, dtype):
            return self.name == other.name
        return self.name == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"tl.{_SPELLED.get(self.name, self.name)}"

    def __reduce__(self) -> tuple[type["dtype"], tuple[str]]:
        return (dtype, (self.name,))


_KINDS = {
    "int1": "bool",
    **{f"int{bits}": "signed" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": "unsigned" for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2"), "float"),
    **dict.fromkeys(("float16", "bfloat16", "float32", "float64"), "float"),
}
# Triton's names, where those of arrays are others.
_SPELLED = {"float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5"}

int1 = dtype("int1")
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
float8_e4m3fn = float8e4nv = dtype("float8_e4m3fn")
float8_e5m2 = float8e5 = dtype("float8_e5m2")
float16 = dtype("float16")
bfloat16 = dtype("bfloat16")
float32 = dtype("float32")
float64 = dtype("float64")

ALL_DTYPES: Final = tuple(dtype(name) for name in _KINDS)


class pointer_type(dtype):
    """The type of a pointer to `element_ty`, as in `x_ptr.dtype.element_ty`.

    Example:
        >>> tl.pointer_type(tl.float16)
        tl.pointer_type(tl.float16)
    """

    __slots__ = ("element_ty",)

    def __init__(self, element_ty: dtype) -> None:
        super().__init__("int64")
        self.element_ty: Final = element_ty
        object.__setattr__(self, "name", f"pointer<{element_ty.name}>")
        object.__setattr__(self, "_kind", "pointer")

    def is_ptr(self) -> bool:
        """Whether values are pointers."""
        return True

    def __repr__(self) -> str:
        return f"tl.pointer_type({self.element_ty!r})"

    def __reduce__(self) -> tuple[type["pointer_type"], tuple[dtype]]:  # type: ignore[override]
        return (pointer_type, (self.element_ty,))


class constexpr:
    """A compile-time value; as an annotation, marks a kernel's compile-time parameter.

    Operators work on the values and give a `constexpr`; a comparison gives what the values give.

    Attributes:
        value: the Python value.

    Example:
        >>> BLOCK = tl.constexpr(128)
        >>> BLOCK * 2
        constexpr(256)
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = unwrap(value)

    def __repr__(self) -> str:
        return f"constexpr({self.value!r})"

    def __str__(self) -> str:
        return str(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __getitem__(self, key: Any) -> Any:
        return self.value[unwrap(key)]

    def __len__(self) -> int:
        return len(self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the value, where it is a function."""
        return self.value(*args, **kwargs)

    def __eq__(self, other: object) -> Any:
        return self.value == unwrap(other)

    def __ne__(self, other: object) -> Any:
        return self.value != unwrap(other)

    def __lt__(self, other: Any) -> Any:
        return self.value < unwrap(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= unwrap(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > unwrap(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= unwrap(other)


def unwrap(value: Any) -> Any:
    """The value inside a `constexpr`, or `value` itself."""
    return value.value if isinstance(value, constexpr) else value


def _wrap(result: Any) -> Any:
    plain = (bool, int, float, str, tuple, dtype, type(None))
    return constexpr(result) if isinstance(result, plain) else result


def _forward(function: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], Any]:
    return lambda self, other: _wrap(function(self.value, unwrap(other)))


def _backward(function: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], Any]:
    return lambda self, other: _wrap(function(unwrap(other), self.value))


def _unary(function: Callable[[Any], Any]) -> Callable[[constexpr], Any]:
    return lambda self: _wrap(function(self.value))


_BINARY = "add sub mul truediv floordiv mod pow lshift rshift and or xor".split()
for _name in _BINARY:
    _function = getattr(operator, f"__{_name}__")
    setattr(constexpr, f"__{_name}__", _forward(_function))
    setattr(constexpr, f"__r{_name}__", _backward(_function))
for _name in ("neg", "pos", "invert", "abs"):
    setattr(constexpr, f"__{_name}__", _unary(getattr(operator, f"__{_name}__")))


class tensor:
    """A tile or scalar inside a kernel, for annotations and `isinstance`.

    Attributes:
        shape: a tuple of ints, empty for a scalar.
        dtype: element type.
        numel: product of the shape.
        T: the transposed tile.
    """

    __slots__ = ()


class tensor_descriptor:
    """What `make_tensor_descriptor` gives, for annotations and `isinstance`.

    Attributes:
        shape: run-time extents of the tensor.
        strides: run-time strides in elements, the last is 1.
        block_shape: extents of the tile that `load` gives.
        dtype: element type.
    """

    __slots__ = ()
