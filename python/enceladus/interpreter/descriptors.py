"""Tensor descriptors: tiles read and written by position, clipped to the tensor's bounds."""

from typing import Any

import numpy as np

from enceladus.interpreter import atomics, memory
from enceladus.interpreter.context import fail
from enceladus.interpreter.numpy_types import Array, numpy_type
from enceladus.interpreter.promotion import to_value
from enceladus.interpreter.shapes import extents
from enceladus.interpreter.values import TABLE, Value, describe
from enceladus.language._registry import DESCRIPTOR_METHODS
from enceladus.language.core import dtype, tensor_descriptor, unwrap

MAX_RANK = 5


class Descriptor(tensor_descriptor):
    """What `tl.make_tensor_descriptor` gives.

    Attributes:
        base: pointer to the first element.
        shape: run-time extents.
        strides: run-time strides in elements.
        block_shape: extents of a tile.
        padding: "zero" or "nan".
    """

    __slots__ = ("base", "shape", "strides", "block_shape", "padding")

    def __init__(
        self,
        base: Value,
        shape: list[Any],
        strides: list[Any],
        block_shape: tuple[int, ...],
        padding: str,
    ) -> None:
        self.base = base
        self.shape = shape
        self.strides = strides
        self.block_shape = block_shape
        self.padding = padding

    @property
    def dtype(self) -> dtype:
        """Element type."""
        return memory.element_type(self.base)

    def pointers(self, indices: list[Array]) -> tuple[Value, Array]:
        """Pointers to the elements at index arrays that broadcast, and which are inside."""
        offset = np.asarray(0, np.int64)
        inside = np.asarray(True)
        for index, extent, stride in zip(indices, self.shape, self.strides, strict=True):
            offset = offset + index * _exact(stride)
            inside = inside & (index >= 0) & (index < _exact(extent))
        offsets = self.base.data + offset
        return Value(offsets, self.base.dtype, None, self.base.memory), inside

    def tile(self, offsets: Any) -> tuple[Value, Array]:
        """Pointers to the tile at `offsets`, and which of its elements are inside."""
        starts = unwrap(offsets)
        starts = starts if isinstance(starts, (tuple, list)) else [starts]
        rank = len(self.block_shape)
        if len(starts) != rank:
            fail(f"a descriptor of {rank} dimensions takes {rank} offsets, not {len(starts)}")
        indices = []
        for axis, (start, extent) in enumerate(zip(starts, self.block_shape, strict=True)):
            along = [extent if other == axis else 1 for other in range(rank)]
            indices.append(_exact(start) + np.arange(extent, dtype=np.int64).reshape(along))
        return self.pointers(indices)

    def rows(self, x_offsets: Any, y_offset: Any) -> tuple[Value, Array]:
        """Pointers to the rows picked by `x_offsets`, and which elements are inside."""
        if len(self.block_shape) != 2 or self.block_shape[0] != 1:
            fail(f"gather and scatter take a block shape of [1, columns], not {self.block_shape}")
        picked = to_value(x_offsets)
        if len(picked.shape) != 1 or not picked.dtype.is_int():
            fail(f"the rows are a tile of integers of one dimension, not a {describe(picked)}")
        columns = _exact(y_offset) + np.arange(self.block_shape[1], dtype=np.int64)
        return self.pointers([picked.unlimited()[:, None], columns[None, :]])

    def __repr__(self) -> str:
        return f"tensor_descriptor<{self.dtype.name}, {list(self.block_shape)}>"


def _exact(scalar: Any) -> int:
    value = to_value(scalar)
    if value.shape or not value.dtype.is_int():
        fail(f"a descriptor takes integer scalars, not a {describe(value)}")
    return int(value.unlimited())


def make_tensor_descriptor(
    base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: str = "zero"
) -> Descriptor:
    start = memory.pointer(base, "make_tensor_descriptor")
    sizes, steps, block = list(unwrap(shape)), list(unwrap(strides)), extents(block_shape)
    if start.shape:
        fail(f"a descriptor starts at one pointer, not a {describe(start)}")
    if not 1 <= len(sizes) <= MAX_RANK or not len(sizes) == len(steps) == len(block):
        fail(
            f"shape, strides and block_shape have {len(sizes)}, {len(steps)} and {len(block)} "
            f"entries; one length from 1 to {MAX_RANK} is wanted"
        )
    if (isinstance(unwrap(steps[-1]), int) and unwrap(steps[-1]) != 1) or _exact(steps[-1]) != 1:
        fail("the last stride of a descriptor is 1")
    if unwrap(padding_option) not in ("zero", "nan"):
        fail(f'padding_option is "zero" or "nan", not {unwrap(padding_option)!r}')
    return Descriptor(start, sizes, steps, block, unwrap(padding_option))


def _read(desc: Descriptor, pointers: Value, inside: Array) -> Value:
    active = np.broadcast_to(inside, pointers.shape)
    pointers.memory.check(pointers.data, active, "load from")
    fill = np.nan if desc.padding == "nan" and desc.dtype.is_floating() else 0
    result = np.full(pointers.shape, fill, numpy_type(desc.dtype))
    result[active] = pointers.memory.elements[pointers.data[active]]
    return Value(result, desc.dtype)


def _tile_value(value: Any, pointers: Value) -> Array:
    tile = to_value(value)
    if tile.shape != pointers.shape:
        fail(f"the value is a {describe(tile)}; a tile of shape {pointers.shape} is wanted")
    return memory.stored_elements(tile, pointers)


def descriptor_load(desc: Descriptor, offsets: Any) -> Value:
    return _read(desc, *desc.tile(offsets))


def descriptor_store(desc: Descriptor, offsets: Any, value: Any) -> None:
    pointers, inside = desc.tile(offsets)
    elements = _tile_value(value, pointers)
    memory.write(pointers, elements, np.broadcast_to(inside, pointers.shape))


def descriptor_gather(desc: Descriptor, x_offsets: Any, y_offset: Any) -> Value:
    return _read(desc, *desc.rows(x_offsets, y_offset))


def descriptor_scatter(desc: Descriptor, value: Any, x_offsets: Any, y_offset: Any) -> None:
    pointers, inside = desc.rows(x_offsets, y_offset)
    elements = _tile_value(value, pointers)
    memory.write(pointers, elements, np.broadcast_to(inside, pointers.shape))


def descriptor_atomic_add(desc: Descriptor, offsets: Any, value: Any) -> None:
    pointers, inside = desc.tile(offsets)
    mask = Value(np.broadcast_to(inside, pointers.shape), dtype("int1"))
    atomics.atomic("atomic_add", pointers, Value(_tile_value(value, pointers), desc.dtype), mask)


TABLE.update(
    make_tensor_descriptor=make_tensor_descriptor,
    descriptor_load=descriptor_load,
    descriptor_store=descriptor_store,
    descriptor_gather=descriptor_gather,
    descriptor_scatter=descriptor_scatter,
    descriptor_atomic_add=descriptor_atomic_add,
)
for _method, _name in DESCRIPTOR_METHODS.items():
    setattr(
        Descriptor,
        _method,
        lambda self, *args, name=_name, **kwargs: TABLE[name](self, *args, **kwargs),
    )
