"""Operators on integers of mixed sign and reductions of large tiles: compiled as interpreted."""

import numpy as np
import pytest

import enceladus
import enceladus.language as tl

PAIRS = [("uint8", "int8"), ("int32", "uint32"), ("uint64", "int64"), ("int8", "uint32")]


@enceladus.jit
def divide(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) / tl.load(y_ptr + offsets))


@enceladus.jit
def total(out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    tile = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr, tl.sum(tile % 7))
    tl.store(out_ptr + 1, tl.max(tile))
    tl.store(out_ptr + 2, tl.argmax(tile % 1000, axis=None))


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_division_first_finds_the_common_integer_type(left, right, monkeypatch):
    x = np.array([1, 2, 100, 7, 0, 3, 5, 127], left)
    y = np.array([3, 5, 7, 2, 9, 1, 4, 11], right)
    (x if np.iinfo(left).min < 0 else y)[:4] *= np.array(-1).astype("int8")
    compiled, interpreted = np.empty((2, 8), np.float32)
    divide[(1,)](x, y, compiled, BLOCK=8)
    monkeypatch.setenv("ENCELADUS_INTERPRET", "1")
    divide[(1,)](x, y, interpreted, BLOCK=8)
    np.testing.assert_array_equal(compiled, interpreted)


def test_a_tile_of_more_than_65536_elements_reduces_as_a_whole():
    rows, columns = 512, 256
    numbers = np.arange(rows * columns)
    out = np.empty(3, np.int32)
    total[(1,)](out, ROWS=rows, COLUMNS=columns)
    assert out.tolist() == [(numbers % 7).sum(), numbers.max(), (numbers % 1000).argmax()]
