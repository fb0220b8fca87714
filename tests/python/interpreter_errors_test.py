"""What the interpreter refuses, with the kernel's line and the words of the compiler."""

import inspect
import re

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus import CompilationError, DeviceAssertionError, OutOfBoundsError, interpreter


def run(kernel, *arguments, grid=(1,), **named):
    """Interprets a kernel with arguments by position; returns nothing."""
    parameters = [parameter.name for parameter in kernel.parameters]
    constexprs = [parameter.name for parameter in kernel.parameters if parameter.is_constexpr]
    interpreter.run(kernel.fn, grid, {**dict(zip(parameters, arguments)), **named}, constexprs)


def line_of(kernel, text):
    """The line of the file where a kernel's text stands."""
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(i for i, line in enumerate(lines) if text in line)


@enceladus.jit
def load_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x)


@enceladus.jit
def before_kernel(x_ptr, out_ptr):
    tl.atomic_add(out_ptr - 1, 1)


@enceladus.jit
def descriptor_kernel(x_ptr, rows):
    x = tl.make_tensor_descriptor(x_ptr, [rows, 4], [4, 1], [8, 4])
    x.load([0, 0])


def test_load_outside_names_array_element_program_and_line():
    x, out = np.zeros(100, np.float32), np.zeros(200, np.float32)
    with pytest.raises(IndexError) as caught:
        run(load_kernel, x, out, 64, grid=(3,))
    assert isinstance(caught.value, OutOfBoundsError)
    line = line_of(load_kernel, "tl.load(x_ptr")
    message = str(caught.value)
    assert message.startswith(f"{__file__}:{line}: load from `x_ptr` at element 100, outside its")
    assert "program (1, 0, 0), index (36,)" in message


def test_store_and_atomic_outside_are_named():
    with pytest.raises(OutOfBoundsError, match="store to `out_ptr` at element 50"):
        run(load_kernel, np.zeros(64, np.int8), np.zeros(50, np.int8), 64)
    with pytest.raises(OutOfBoundsError, match="atomic on `out_ptr` at element -1"):
        run(before_kernel, np.zeros(4, np.int32), np.zeros(4, np.int32))


def test_descriptor_larger_than_its_array_is_seen():
    run(descriptor_kernel, np.zeros(8, np.float32), 2)
    with pytest.raises(OutOfBoundsError, match="load from `x_ptr` at element 8"):
        run(descriptor_kernel, np.zeros(8, np.float32), 3)


def test_view_is_bounded_by_its_own_extent():
    base = np.zeros(200, np.float32)
    with pytest.raises(OutOfBoundsError, match="outside its 50 elements"):
        run(load_kernel, base[10:60], np.zeros(64, np.float32), 64)


def test_read_only_output_is_refused():
    out = np.zeros(64, np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="`out_ptr` is read-only"):
        run(load_kernel, np.zeros(64, np.float32), out, 64)


@enceladus.jit
def mistakes_kernel(x_ptr, n, WHICH: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    if WHICH == "tile in if":
        if x > 0:
            tl.store(x_ptr, 1.0)
    elif WHICH == "tile in while":
        while x > 0:
            x -= 1
    elif WHICH == "tile in and":
        tl.store(x_ptr, (x > 0) and (x < 3))
    elif WHICH == "chained tiles":
        tl.store(x_ptr, 0 < x < 3)
    elif WHICH == "shapes":
        x + tl.arange(0, 16)
    elif WHICH == "extent":
        tl.arange(0, 12)
    elif WHICH == "run-time extent":
        tl.arange(0, n)
    elif WHICH == "large extent":
        tl.zeros((131072,), tl.int8)
    elif WHICH == "shift":
        n << 32
    elif WHICH == "float floor division":
        x // 2.0
    elif WHICH == "float bits":
        x & 1
    elif WHICH == "item assignment":
        x[0] = 1.0
    elif WHICH == "index":
        x[0]
    elif WHICH == "pointer times":
        x_ptr * 2
    elif WHICH == "float offset":
        x_ptr + 1.5
    elif WHICH == "load of a number":
        tl.load(n)
    elif WHICH == "other without mask":
        tl.load(x_ptr, other=0.0)
    elif WHICH == "math of integers":
        tl.exp(n)
    elif WHICH == "static assert":
        tl.static_assert(n > 3)
    elif WHICH == "static assert false":
        tl.static_assert(WHICH == "", f"WHICH is {WHICH}")
    elif WHICH == "dot shapes":
        tl.dot(tl.zeros((16, 16), tl.float32), tl.zeros((32, 16), tl.float32))
    elif WHICH == "dot types":
        tl.dot(tl.zeros((16, 16), tl.float32), tl.zeros((16, 16), tl.float16))
    elif WHICH == "dot depth":
        tl.dot(tl.zeros((16, 4), tl.float32), tl.zeros((4, 16), tl.float32))
    elif WHICH == "axis":
        tl.sum(x, axis=1)
    elif WHICH == "reshape":
        tl.reshape(x, (4, 4))
    elif WHICH == "bitcast":
        x.to(tl.int16, bitcast=True)
    elif WHICH == "semantics":
        tl.atomic_add(x_ptr, 1.0, sem="seq_cst")
    elif WHICH == "last stride":
        tl.make_tensor_descriptor(x_ptr, [2, 4], [1, 2], [2, 4])
    elif WHICH == "range of floats":
        for _ in range(x_ptr.dtype.element_ty.itemsize * 1.5):
            pass
    elif WHICH == "grid axis":
        tl.program_id(3)
    elif WHICH == "power":
        x**n


MISTAKES = {
    "tile in if": r"a tile of shape \(8,\) cannot be a condition",
    "tile in while": r"a tile of shape \(8,\) cannot be a condition",
    "tile in and": r"a tile of shape \(8,\) cannot be a condition",
    "chained tiles": r"a tile of shape \(8,\) cannot be a condition",
    "shapes": r"shapes \(8,\) and \(16,\) do not broadcast",
    "extent": r"12 is no power of two from 1 to 65536\n.*\n  hint: use `enceladus.next_power_of_2`",
    "run-time extent": "must be known at compile time, not a `int32` scalar",
    "large extent": "131072 is no power of two from 1 to 65536",
    "shift": "a shift of `int32` by 32 is outside 0 to 31",
    "float floor division": "`//` does not take `float32` values",
    "float bits": "`&` does not take `float32` values",
    "index": "a tile is indexed with `:` and `None` only",
    "pointer times": "`\\*` does not take pointers",
    "float offset": "a pointer takes an integer offset, not a `float32` scalar",
    "load of a number": "`tl.load` takes a pointer or a tile of pointers, not `int32` scalar",
    "other without mask": "`other` of `tl.load` has a meaning only with `mask`",
    "math of integers": "`tl.exp` takes floats, not a `int32` scalar",
    "static assert": "the condition of `tl.static_assert` is known only at run time",
    "static assert false": "static assertion failed: WHICH is static assert false",
    "dot shapes": "`a` has 16 columns but `b` has 32 rows",
    "dot types": "`tl.dot` takes one type, not `float32` and `float16`",
    "dot depth": "an inner extent of 8 and more, not 4\n.*\n  hint: pad with zeros",
    "axis": "axis 1 is outside a tile of 1 dimensions",
    "reshape": r"has 8 elements and does not fit \(4, 4\)",
    "bitcast": "a bitcast from `float32` to `int16` changes the width",
    "semantics": "`sem` of `tl.atomic_add` is one of",
    "last stride": "the last stride of a descriptor is 1",
    "range of floats": "`range` takes integer scalars, not a `float32` scalar",
    "grid axis": "a grid has the axes 0, 1 and 2, not 3",
    "power": "`\\*\\*` takes a constant integer exponent",
}


@pytest.mark.parametrize("which", sorted(MISTAKES))
def test_mistake_is_refused_with_its_line(which):
    with pytest.raises(CompilationError) as caught:
        run(mistakes_kernel, np.ones(8, np.float32), 5, which)
    message = str(caught.value)
    line = line_of(mistakes_kernel, f'WHICH == "{which}"')
    place = re.match(rf"{re.escape(__file__)}:(\d+): error: ", message)
    assert place and line < int(place[1]) <= line + 2
    assert re.search(MISTAKES[which], message)


def test_item_assignment_is_refused():
    with pytest.raises(TypeError, match="does not support item assignment"):
        run(mistakes_kernel, np.ones(8, np.float32), 5, "item assignment")


@enceladus.jit
def combine_badly(a, b):
    return a > b


@enceladus.jit
def bad_reduce_kernel(x_ptr):
    tl.reduce(tl.load(x_ptr + tl.arange(0, 8)), 0, combine_badly)


def test_combine_function_keeps_the_type():
    with pytest.raises(CompilationError, match="combine_fn gives `int1` for `float32`"):
        run(bad_reduce_kernel, np.ones(8, np.float32))


@pytest.mark.parametrize("value", ["text", object(), np.zeros(2, np.complex64)])
def test_argument_that_is_no_array_is_refused(value):
    with pytest.raises(TypeError, match="`x_ptr`|complex64"):
        run(before_kernel, value, np.zeros(1, np.int32))


def test_kernel_after_a_failed_one_runs():
    out = np.zeros(8, np.float32)
    with pytest.raises(OutOfBoundsError):
        run(load_kernel, np.ones(4, np.float32), out, 8)
    run(load_kernel, np.ones(8, np.float32), out, 8)
    assert (out == 1).all()
    with pytest.raises(RuntimeError, match="only inside a kernel"):
        tl.program_id(0)


@enceladus.jit
def assert_kernel(x_ptr, limit, MASKED: tl.constexpr):
    offsets = tl.arange(0, 8)
    x = tl.load(x_ptr + offsets)
    if MASKED:
        tl.device_assert(x < limit, "x is small", mask=offsets < 4)
    else:
        tl.device_assert(x < limit, "x is small")


def test_device_assert_reports_file_line_program_and_message():
    with pytest.raises(DeviceAssertionError) as caught:
        run(assert_kernel, np.arange(8), 5, False, grid=(1, 2))
    line = line_of(assert_kernel, 'tl.device_assert(x < limit, "x is small")')
    expected = f"{__file__}:{line}: program (0, 0, 0): assertion failed: x is small"
    assert str(caught.value) == expected


def test_device_assert_honours_its_mask():
    run(assert_kernel, np.arange(8), 5, True)
    with pytest.raises(DeviceAssertionError):
        run(assert_kernel, np.arange(8), 3, True)
