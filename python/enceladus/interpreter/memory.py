"""Arrays as kernels see them, and loads and stores through pointers.

A pointer is an array and an element offset, so an access outside the array is always seen.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from enceladus.errors import OutOfBoundsError
from enceladus.interpreter.context import current, fail, place
from enceladus.interpreter.numpy_types import Array, numpy_type
from enceladus.interpreter.promotion import cast_value, is_number, to_value
from enceladus.interpreter.values import TABLE, Value, describe
from enceladus.language.core import dtype


@dataclass(eq=False)
class Memory:
    """The elements of one array argument, in the order of their addresses.

    Attributes:
        name: the argument's name.
        elements: one dimension, from the lowest to the highest element of the array.
        dtype: their type.
    """

    name: str
    elements: Array
    dtype: dtype

    @property
    def address(self) -> int:
        """Of the lowest element, in bytes."""
        return int(self.elements.__array_interface__["data"][0])

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.elements.itemsize

    def check(self, offsets: Array, active: Array | None, what: str) -> None:
        """Raises OutOfBoundsError where an active offset lies outside."""
        outside = (offsets < 0) | (offsets >= self.elements.size)
        if active is not None:
            outside = outside & active
        if not outside.any():
            return
        index = tuple(int(i) for i in np.argwhere(outside)[0])
        raise OutOfBoundsError(
            f"{place()}: {what} `{self.name}` at element {int(offsets[index])}, outside its "
            f"{self.elements.size} elements (program {current().program}, index {index})"
        )

    def check_writable(self) -> None:
        """Raises where the array is read-only."""
        if not self.elements.flags.writeable:
            raise ValueError(f"{place()}: `{self.name}` is read-only and the kernel writes to it")


def pointer(value: Any, function: str) -> Value:
    """The operand as pointers, or an error that names the function."""
    if not isinstance(value, Value) or not value.dtype.is_ptr():
        shown = describe(value) if isinstance(value, Value) else repr(value)
        fail(f"`tl.{function}` takes a pointer or a tile of pointers, not {shown}")
    return value


def element_type(pointers: Value) -> dtype:
    """The type that pointers point to."""
    element: dtype = pointers.dtype.element_ty  # type: ignore[attr-defined]
    return element


def spread(value: Value, shape: tuple[int, ...], what: str) -> Array:
    """The elements of an operand, broadcast to the shape of the pointers."""
    try:
        return np.broadcast_to(value.data, shape)
    except ValueError:
        fail(f"the {what}, a {describe(value)}, does not broadcast to pointers of shape {shape}")


def active_elements(mask: Any, shape: tuple[int, ...]) -> Array | None:
    """Where a mask is set, in the shape of the pointers; None for no mask."""
    if mask is None:
        return None
    value = to_value(mask)
    if not value.dtype.is_bool() and not is_number(mask):
        fail(f"a mask is `int1`, not {describe(value)}", "compare, as in `offsets < n`")
    return np.asarray(spread(value, shape, "mask") != 0)


def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: str = "",
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> Value:
    pointers = _plain(pointer, "load", boundary_check, padding_option)
    element = element_type(pointers)
    if mask is None and other is not None:
        fail("`other` of `tl.load` has a meaning only with `mask`")
    active = active_elements(mask, pointers.shape)
    pointers.memory.check(pointers.data, active, "load from")
    if active is None:
        return Value(pointers.memory.elements[pointers.data], element)
    result = np.zeros(pointers.shape, numpy_type(element))
    if other is not None:
        fill = to_value(other, element) if is_number(other) else to_value(other)
        result[...] = spread(cast_value(fill, element), pointers.shape, "value `other`")
    result[active] = pointers.memory.elements[pointers.data[active]]
    return Value(result, element)


def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: str = "",
    eviction_policy: str = "",
) -> None:
    pointers = _plain(pointer, "store", boundary_check, "")
    active = active_elements(mask, pointers.shape)
    write(pointers, stored_elements(value, pointers), active)


def _plain(value: Any, function: str, boundary_check: Any, padding_option: str) -> Value:
    if boundary_check or padding_option:
        fail(f"`boundary_check` and `padding_option` of `tl.{function}` are for block pointers")
    return pointer(value, function)


def stored_elements(value: Any, pointers: Value) -> Array:
    """A value as the pointed-to type, in the shape of the pointers."""
    element = element_type(pointers)
    typed = to_value(value, element) if is_number(value) else to_value(value)
    return spread(cast_value(typed, element), pointers.shape, "value")


def write(pointers: Value, elements: Array, active: Array | None) -> None:
    """Writes elements where active, after the checks."""
    memory = pointers.memory
    memory.check_writable()
    memory.check(pointers.data, active, "store to")
    if active is None:
        memory.elements[pointers.data] = elements
    else:
        memory.elements[pointers.data[active]] = elements[active]


TABLE.update(load=load, store=store)
