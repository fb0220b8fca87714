"""What a kernel reports while it runs on the CPU: prints, assertions, accesses out of bounds."""

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus.errors import DeviceAssertionError, OutOfBoundsError

pytestmark = pytest.mark.skipif(
    "cpu" not in [device.name for device in enceladus.devices()], reason="no CPU target"
)


@enceladus.jit(debug=True)
def copy_kernel(x_ptr, out_ptr, limit):
    offsets = tl.program_id(0) * 16 + tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    tl.device_assert(x < limit, "x is small")
    tl.store(out_ptr + offsets, x)


@enceladus.jit
def print_kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    tl.device_print("x", x)


@enceladus.jit(debug=True)
def column_kernel(x_ptr, out_ptr, rows):
    r = tl.arange(0, 4)[:, None]
    c = tl.arange(0, 4)[None, :]
    mask = (r < rows) & (c < 4)
    tl.store(out_ptr + r * 4 + c, tl.load(x_ptr + r * 4 + c, mask=mask), mask=mask)


def test_a_load_past_the_end_is_named_and_skipped():
    x = np.arange(20, dtype=np.int32)
    out = np.full(32, -1, np.int32)
    with enceladus.device("cpu"):
        with pytest.raises(
            OutOfBoundsError, match=r"load from `x_ptr` at element 20, outside its 20"
        ):
            copy_kernel[(2,)](x, out, 100)
    np.testing.assert_array_equal(out[:20], x)


def test_a_store_past_the_end_leaves_its_neighbours_alone():
    x = np.arange(16, dtype=np.int32)
    memory = np.full(16, -1, np.int32)
    with enceladus.device("cpu"):
        with pytest.raises(
            OutOfBoundsError, match=r"store to `out_ptr` at element 8, .*index \(8,\)"
        ):
            copy_kernel[(1,)](x, memory[:8], 100)
    np.testing.assert_array_equal(memory, [*range(8), *[-1] * 8])


def test_an_assertion_names_its_line_and_program():
    x = np.arange(32, dtype=np.int32)
    with enceladus.device("cpu"):
        with pytest.raises(DeviceAssertionError, match=r"program \(1, 0, 0\).*x is small"):
            copy_kernel[(2,)](x, x.copy(), 16)


def test_masked_off_elements_are_not_checked():
    x = np.arange(8, dtype=np.float32)
    out = np.zeros(8, np.float32)
    with enceladus.device("cpu"):
        column_kernel[(1,)](x, out, 2)
    np.testing.assert_array_equal(out, x)


@enceladus.jit(debug=True)
def permute_kernel(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    index = tl.load(index_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr + index, tl.load(x_ptr + index))


def test_stores_at_loaded_indices_are_made_and_checked():
    x, out = np.arange(64, dtype=np.float32), np.full(64, -1, np.float32)
    index = np.arange(64)[::-1].copy()
    with enceladus.device("cpu"):
        permute_kernel[(1,)](x, index, out, BLOCK=64)
    np.testing.assert_array_equal(out, x)
    index[5] = 64
    message = r"load from `x_ptr` at element 64, outside its 64 elements .*index \(5,\)"
    with enceladus.device("cpu"), pytest.raises(OutOfBoundsError, match=message):
        permute_kernel[(1,)](x, index, out, BLOCK=64)


@enceladus.jit(debug=True)
def atomics_kernel(x_ptr, far, CAS: tl.constexpr, TILE: tl.constexpr):
    if TILE:
        offsets = tl.arange(0, 64) + far
        zeros = tl.zeros((64,), tl.int32)
    else:
        offsets = far
        zeros = 0
    if CAS:
        tl.atomic_cas(x_ptr + offsets, zeros, zeros + 1)
    else:
        tl.atomic_add(x_ptr + offsets, zeros + 1)


@pytest.mark.parametrize("interpret", [False, True], ids=["cpu", "interpreter"])
@pytest.mark.parametrize("tile", [False, True], ids=["scalar", "tile"])
@pytest.mark.parametrize("cas", [False, True], ids=["add", "cas"])
def test_an_atomic_past_the_end_is_reported_with_its_index_and_not_done(cas, tile, interpret):
    memory = np.zeros(128, np.int32)
    kernel = enceladus.jit(debug=True, interpret=interpret)(atomics_kernel.fn)
    index = r"\(4,\)" if tile else r"\(\)"
    message = rf"atomic on `x_ptr` at element 64, outside its 64 elements .*index {index}"
    with enceladus.device("cpu"), pytest.raises(OutOfBoundsError, match=message):
        kernel[(1,)](memory[:64], 60 if tile else 64, cas, tile)
    assert not memory[64:].any()
    if tile and not interpret:  # the interpreter stops before it touches anything
        assert memory[60:64].all()


@enceladus.jit(debug=True)
def far_kernel(x_ptr, out_ptr, n, TILE: tl.constexpr):
    if TILE:
        tl.store(out_ptr + tl.arange(0, 8), tl.load(x_ptr + n + tl.arange(0, 8)))
    else:
        tl.store(out_ptr, tl.load(x_ptr + n))


@pytest.mark.parametrize("tile", [False, True], ids=["scalar", "tile"])
@pytest.mark.parametrize("n", [1 << 61, 1 << 62, -(1 << 62), (1 << 62) + (1 << 61)])
def test_an_offset_whose_bytes_wrap_around_does_not_read_the_array(n, tile):
    x = np.arange(8, dtype=np.float64)
    out = np.full(8, -1.0)
    where = "far behind the last of" if n > 0 else "far before the first of"
    with enceladus.device("cpu"):
        with pytest.raises(OutOfBoundsError, match=f"load from `x_ptr` {where} its 8 elements"):
            far_kernel[(1,)](x, out, n, tile)


def test_prints_one_line_an_element(capsys):
    with enceladus.device("cpu"):
        print_kernel[(1,)](np.array([0.5, -1, 2, np.inf], np.float32))
    assert capsys.readouterr().out.splitlines() == [
        "pid (0, 0, 0) idx (0) x: 0.500000",
        "pid (0, 0, 0) idx (1) x: -1.000000",
        "pid (0, 0, 0) idx (2) x: 2.000000",
        "pid (0, 0, 0) idx (3) x: inf",
    ]
