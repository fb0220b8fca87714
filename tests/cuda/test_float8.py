"""float8 on a card whose text for older cards is run in place of its own instructions: before sm_89
conversions work on bits, and products multiply halves.

Which of the two a text takes is a `#if` in it; ENCELADUS_OVERRIDE_DIR puts the other in its place.
"""

import ml_dtypes
import numpy as np
import pytest

import enceladus
import enceladus.language as tl

GUARD = "#if __CUDA_ARCH__ >= 890"
FLOAT8 = {"float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2}
BLOCK = 1024


@enceladus.jit
def convert_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x.to(out_ptr.dtype.element_ty), mask=mask)


@enceladus.jit
def toward_zero_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    narrow = x.to(out_ptr.dtype.element_ty, fp_downcast_rounding="rtz")
    tl.store(out_ptr + offsets, narrow, mask=mask)


@enceladus.jit
def product_kernel(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr):
    rows, columns = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    a = tl.load(a_ptr + rows * SIZE + columns)
    b = tl.load(b_ptr + rows * SIZE + columns)
    tl.store(c_ptr + rows * SIZE + columns, tl.dot(a, b))


@pytest.fixture(autouse=True)
def cuda():
    with enceladus.device("cuda:0"):
        yield


@pytest.fixture(params=["for this card", "for older cards"])
def launch(request, tmp_path, monkeypatch):
    """Launches a kernel's text as it is, or as older cards would take it."""

    def as_it_is(kernel, grid, *args, **options):
        kernel[grid](*args, **options)

    def as_older_cards_do(kernel, grid, *args, **options):
        text = kernel.warmup(*args, **options).cuda
        assert GUARD in text or kernel is toward_zero_kernel
        (tmp_path / f"{kernel.__name__}.cu").write_text(text.replace(GUARD, "#if 0"))
        monkeypatch.setenv("ENCELADUS_OVERRIDE_DIR", str(tmp_path))
        other = enceladus.jit(kernel.fn)
        other[grid](*args, **options)
        assert GUARD not in other.warmup(*args, **options).cuda
        monkeypatch.delenv("ENCELADUS_OVERRIDE_DIR")

    return as_it_is if request.param == "for this card" else as_older_cards_do


def converted(launch, kernel, x, dtype):
    source = enceladus.from_numpy(x)
    out = enceladus.zeros(x.size, dtype)
    launch(kernel, (enceladus.cdiv(x.size, BLOCK),), source, out, x.size, BLOCK=BLOCK)
    return out.numpy()


@pytest.mark.parametrize("wide", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("name", FLOAT8)
def test_every_code_has_its_value(launch, name, wide):
    codes = np.arange(256, dtype=np.uint8).view(FLOAT8[name])
    found = converted(launch, convert_kernel, codes, wide).astype(np.float64)
    expected = codes.astype(np.float64)
    np.testing.assert_array_equal(found, expected)  # NaN where NaN is expected
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


def dense(dtype):
    """All values of the dtype, or the values of all halves and what lies beside each of them."""
    halves = np.arange(1 << 16, dtype=np.uint16)
    if dtype == "bfloat16":
        return halves.view(ml_dtypes.bfloat16)
    halves = halves.view(np.float16)
    if dtype == "float16":
        return halves
    x = halves.astype(dtype)
    infinity = np.array(np.inf, dtype)
    beside = [x, np.nextafter(x, infinity), np.nextafter(x, -infinity)]
    bits = np.random.default_rng(8).integers(0, 1 << 32, 1 << 18, dtype=np.uint32)
    return np.concatenate([*beside, bits.view(np.float32).astype(dtype)])


def rounded_codes(x, name, toward_zero=False):
    """Codes of the numbers in `x`, rounded once to nearest even and saturated; x is no NaN."""
    table = np.arange(128, dtype=np.uint8).view(FLOAT8[name]).astype(np.float64)
    table = table[np.isfinite(table)]
    magnitude = np.minimum(np.abs(x), table[-1])
    below = np.searchsorted(table, magnitude, side="right") - 1
    above = np.minimum(below + 1, table.size - 1)
    middle = (table[below] + table[above]) / 2  # exact
    rises = (magnitude > middle) | ((magnitude == middle) & (below % 2 == 1))
    codes = below if toward_zero else np.where(rises, above, below)
    return (codes | (128 * np.signbit(x))).astype(np.uint8)


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
@pytest.mark.parametrize("wide", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("kernel", [convert_kernel, toward_zero_kernel], ids=lambda k: k.__name__)
@pytest.mark.parametrize("name", FLOAT8)
def test_floats_are_rounded_once_and_saturated(launch, name, kernel, wide):
    x = dense(wide)
    found = converted(launch, kernel, x, name)
    exact = x.astype(np.float64)
    numbers = ~np.isnan(exact)
    expected = rounded_codes(exact[numbers], name, kernel is toward_zero_kernel)
    np.testing.assert_array_equal(found[numbers].view(np.uint8), expected)
    assert np.isnan(found[~numbers].astype(np.float32)).all()


@pytest.mark.parametrize("right", FLOAT8)
@pytest.mark.parametrize("left", FLOAT8)
def test_products_are_exact_where_the_sums_are(launch, left, right):
    size, rng = 64, np.random.default_rng(9)
    a = rng.integers(-4, 5, (size, size)).astype(FLOAT8[left])
    b = rng.integers(-4, 5, (size, size)).astype(FLOAT8[right])
    c = enceladus.zeros((size, size))
    arrays = enceladus.from_numpy(a), enceladus.from_numpy(b), c
    launch(product_kernel, (1,), *arrays, SIZE=size)
    np.testing.assert_array_equal(c.numpy(), a.astype(np.float32) @ b.astype(np.float32))
