"""Loads, stores and tensor descriptors."""

from enceladus.language._registry import Descriptor, Shape, Tile, builtin


@builtin(method=True)
def load(
    pointer: Tile,
    mask: Tile = None,
    other: Tile = None,
    boundary_check: tuple[int, ...] = (),
    padding_option: str = "",
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> Tile:
    """Reads the elements that a tile of pointers (or one pointer) points to.

    Args:
        pointer: a pointer or a tile of pointers.
        mask: int1, broadcast to the shape of `pointer`; memory is not touched where it is 0.
        other: the value where the mask is 0, converted to the element type; 0 when absent.
        boundary_check: for block pointers only.
        padding_option: for block pointers only.
        cache_modifier: a hint, one of "", ".ca", ".cg", ".cv".
        eviction_policy: a hint, one of "", "evict_first", "evict_last".
        volatile: never reuse an earlier read.

    Returns:
        Values of the pointed-to type, in the shape of `pointer`.

    Raises:
        CompilationError: `pointer` is no pointer, or `other` comes without `mask`.
        IndexError: an element outside the array, in the interpreter and under ENCELADUS_DEBUG=1.

    Example:
        >>> x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    """


@builtin(method=True)
def store(
    pointer: Tile,
    value: Tile,
    mask: Tile = None,
    boundary_check: tuple[int, ...] = (),
    cache_modifier: str = "",
    eviction_policy: str = "",
) -> None:
    """Writes values where a tile of pointers (or one pointer) points to.

    Args:
        pointer: a pointer or a tile of pointers.
        value: broadcast to the shape of `pointer`, converted to its element type
            (to int1: `value != 0`).
        mask: int1, broadcast to the shape of `pointer`; nothing is written where it is 0.
        boundary_check: for block pointers only.
        cache_modifier: a hint, one of "", ".wb", ".cg", ".cs", ".wt".
        eviction_policy: a hint, one of "", "evict_first", "evict_last".

    Raises:
        CompilationError: `pointer` is no pointer, or shapes do not broadcast.
        IndexError: an element outside the array, in the interpreter and under ENCELADUS_DEBUG=1.

    Example:
        >>> tl.store(y_ptr + offsets, x + 1, mask=offsets < n)
    """


@builtin()
def make_tensor_descriptor(
    base: Tile,
    shape: Shape,
    strides: Shape,
    block_shape: Shape,
    padding_option: str = "zero",
) -> Descriptor:
    """Describes a tensor in memory, to load and store it tile by tile.

    Args:
        base: pointer to the first element.
        shape: run-time extents, one for each dimension (1 to 5).
        strides: run-time strides in elements; the last is the constant 1.
        block_shape: compile-time extents of a tile, powers of two.
        padding_option: what a load gives outside the bounds, "zero" or "nan".

    Returns:
        A descriptor with `shape`, `strides`, `block_shape`, `dtype` and the methods `load`,
        `store`, `gather`, `scatter`, `atomic_add`.

    Raises:
        CompilationError: the lists differ in length, or the last stride is not 1.

    Example:
        >>> a = tl.make_tensor_descriptor(a_ptr, [M, K], [stride, 1], [BM, BK])
        >>> tile = a.load([row, column])
    """


@builtin(name="descriptor_load", descriptor_method="load")
def load_tensor_descriptor(desc: Descriptor, offsets: Shape) -> Tile:
    """Reads the tile that starts at `offsets`; `desc.load(offsets)`.

    Args:
        desc: a tensor descriptor.
        offsets: int32 scalars, one for each dimension.

    Returns:
        A tile of `desc.block_shape`; the padding where it leaves the tensor.

    Raises:
        CompilationError: the number of offsets is not the number of dimensions.

    Example:
        >>> tile = desc.load([row, column])
    """


@builtin(name="descriptor_store", descriptor_method="store")
def store_tensor_descriptor(desc: Descriptor, offsets: Shape, value: Tile) -> None:
    """Writes a tile at `offsets`; `desc.store(offsets, value)`.

    Args:
        desc: a tensor descriptor.
        offsets: int32 scalars, one for each dimension.
        value: a tile of `desc.block_shape`, converted to `desc.dtype`; elements outside the
            tensor are skipped.

    Raises:
        CompilationError: the shape of `value` or the number of offsets is wrong.

    Example:
        >>> desc.store([row, column], acc.to(desc.dtype))
    """


@builtin(descriptor_method="gather")
def descriptor_gather(desc: Descriptor, x_offsets: Tile, y_offset: Tile) -> Tile:
    """Reads rows picked by index; `desc.gather(x_offsets, y_offset)`.

    Args:
        desc: a descriptor of a matrix whose `block_shape` is `[1, columns]`.
        x_offsets: int32 tile of row indices, shape `(rows,)`.
        y_offset: int32 scalar, the first column.

    Returns:
        A tile of shape `(rows, columns)`; the padding where it leaves the tensor.

    Raises:
        CompilationError: the descriptor has no such block shape.

    Example:
        >>> rows = desc.gather(indices, 0)
    """


@builtin(descriptor_method="scatter")
def descriptor_scatter(desc: Descriptor, value: Tile, x_offsets: Tile, y_offset: Tile) -> None:
    """Writes rows picked by index; `desc.scatter(value, x_offsets, y_offset)`.

    Args:
        desc: a descriptor of a matrix whose `block_shape` is `[1, columns]`.
        value: a tile of shape `(rows, columns)`; elements outside the tensor are skipped.
        x_offsets: int32 tile of row indices, shape `(rows,)`.
        y_offset: int32 scalar, the first column.

    Raises:
        CompilationError: the descriptor or the value has no such shape.

    Example:
        >>> desc.scatter(values, indices, 0)
    """


@builtin(descriptor_method="atomic_add")
def descriptor_atomic_add(desc: Descriptor, offsets: Shape, value: Tile) -> None:
    """Adds a tile to memory atomically, element by element; `desc.atomic_add(offsets, value)`.

    Args:
        desc: a tensor descriptor.
        offsets: int32 scalars, one for each dimension.
        value: a tile of `desc.block_shape`; elements outside the tensor are skipped.

    Raises:
        CompilationError: the shape of `value` or the number of offsets is wrong.

    Example:
        >>> desc.atomic_add([row, 0], partial)
    """
