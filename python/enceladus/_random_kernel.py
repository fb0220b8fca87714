"""The kernel that fills large random tensors where the host does not share a device's memory.

It computes what `src/runtime/common/philox.cpp` computes, operation by operation and in double, so
the bits are those of every target: products and sums are not contracted (`math_mode="precise"`).
Imported when it is first needed.
"""

from __future__ import annotations

import enceladus
import enceladus.language as tl

__all__ = ["fill_kernel"]

_HALF_PI = 1.5707963267948966
_LN_2 = 0.6931471805599453
_SQRT_HALF = 0.7071067811865476
# The series of atanh, highest power first.
_ATANH = tuple(1.0 / n for n in range(21, 0, -2))


def _taylor(count: int, first_factor: int) -> tuple[float, ...]:
    """Coefficients of sin(x) / x or cos(x) in x squared, highest power first."""
    coefficients, term = [], 1.0
    for i in range(count):
        coefficients.append(term)
        n = first_factor + 2.0 * i
        term = -term / (n * (n + 1.0))
    return tuple(reversed(coefficients))


_SINE = _taylor(9, 2)
_COSINE = _taylor(10, 1)


@enceladus.jit
def _polynomial(x, coefficients: tl.constexpr):
    total = tl.full(x.shape, coefficients[0], dtype=tl.float64)
    for i in tl.static_range(1, len(coefficients)):
        total = total * x + coefficients[i]
    return total


@enceladus.jit
def _logarithm(value):
    bits = value.to(tl.int64, bitcast=True)
    mantissa = ((bits & 0xFFFFFFFFFFFFF) | (1022 << 52)).to(tl.float64, bitcast=True)
    is_low = mantissa < _SQRT_HALF
    centred = tl.where(is_low, mantissa * 2.0, mantissa)
    exponent = ((bits >> 52) - tl.where(is_low, 1023, 1022)).to(tl.float64)
    s = (centred - 1.0) / (centred + 1.0)
    return exponent * _LN_2 + 2.0 * s * _polynomial(s * s, _ATANH)


@enceladus.jit
def _normal_pair(uniform, quadrant, fraction):
    radius = tl.sqrt(-2.0 * _logarithm(uniform))
    angle = (fraction - 0.5) * _HALF_PI
    square = angle * angle
    sine = angle * _polynomial(square, _SINE)
    cosine = _polynomial(square, _COSINE)
    is_odd = (quadrant & 1) != 0
    x = tl.where(is_odd, sine, cosine)
    y = tl.where(is_odd, cosine, sine)
    x = tl.where((quadrant == 1) | (quadrant == 2), -x, x)
    y = tl.where(quadrant >= 2, -y, y)
    return radius * x, radius * y


@enceladus.jit
def _philox(c0, c1, k0, k1):
    c2 = tl.zeros_like(c0)
    c3 = tl.zeros_like(c0)
    for _ in tl.static_range(10):
        low, high = c0 * 0xD2511F53, tl.umulhi(c0, 0xD2511F53)
        other_low, other_high = c2 * 0xCD9E8D57, tl.umulhi(c2, 0xCD9E8D57)
        c0, c1, c2, c3 = other_high ^ c1 ^ k0, other_low, high ^ c3 ^ k1, low
        k0 += 0x9E3779B9
        k1 += 0xBB67AE85
    return c0, c1, c2, c3


@enceladus.jit
def _joined(high, low):
    return (high.to(tl.uint64) << 32) | low.to(tl.uint64)


@enceladus.jit
def _two_numbers(w0, w1, w2, w3, NORMAL: tl.constexpr):
    if NORMAL:
        uniform = ((_joined(w0, w1) >> 11) + 1).to(tl.float64) * 2.0**-53
        turn = _joined(w2, w3) & 0x3FFFFFFFFFFFFFFF
        return _normal_pair(uniform, w2 >> 30, (turn >> 9).to(tl.float64) * 2.0**-53)
    return (
        (_joined(w0, w1) >> 11).to(tl.float64) * 2.0**-53,
        (_joined(w2, w3) >> 11).to(tl.float64) * 2.0**-53,
    )


@enceladus.jit
def _two_of_four(one, other, NORMAL: tl.constexpr, BITS: tl.constexpr):
    if NORMAL:
        uniform = (one.to(tl.float64) + 1.0) * 2.0**-32
        fraction = (other & 0x3FFFFFFF).to(tl.float64) * 2.0**-30
        return _normal_pair(uniform, other >> 30, fraction)
    return (
        (one >> (32 - BITS)).to(tl.float64) * 2.0**-BITS,
        (other >> (32 - BITS)).to(tl.float64) * 2.0**-BITS,
    )


@enceladus.jit
def _alternating(even, odd, COLUMNS: tl.constexpr):
    is_even = (tl.arange(0, COLUMNS) % 2 == 0)[None, :]
    return tl.where(is_even, even[:, None], odd[:, None])


@enceladus.jit(
    do_not_specialize=["size", "seed_low", "seed_high", "offset_low", "offset_high"],
    math_mode="precise",
    interpret=False,
    debug=False,
)
def fill_kernel(
    out_ptr,
    size,
    seed_low,
    seed_high,
    offset_low,
    offset_high,
    NORMAL: tl.constexpr,
    BITS: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """A program writes the numbers of BLOCKS blocks; a uniform number has BITS bits."""
    block = tl.program_id(0).to(tl.uint64) * BLOCKS + tl.arange(0, BLOCKS).to(tl.uint64)
    counter = block + _joined(offset_high, offset_low)
    w0, w1, w2, w3 = _philox(
        counter.to(tl.uint32), (counter >> 32).to(tl.uint32), seed_low, seed_high
    )
    # A row for each block, of which the threads write whole words of 16 bytes.
    if BITS == 53:
        PER_BLOCK: tl.constexpr = 2
        first, second = _two_numbers(w0, w1, w2, w3, NORMAL)
        numbers = _alternating(first, second, PER_BLOCK)
    else:
        PER_BLOCK: tl.constexpr = 4
        n0, n1 = _two_of_four(w0, w1, NORMAL, BITS)
        n2, n3 = _two_of_four(w2, w3, NORMAL, BITS)
        is_early = tl.arange(0, PER_BLOCK)[None, :] < 2
        early = _alternating(n0, n1, PER_BLOCK)
        numbers = tl.where(is_early, early, _alternating(n2, n3, PER_BLOCK))
    rows = tl.program_id(0).to(tl.int64) * BLOCKS + tl.arange(0, BLOCKS)
    offsets = rows[:, None] * PER_BLOCK + tl.arange(0, PER_BLOCK)[None, :]
    tl.store(out_ptr + offsets, numbers.to(out_ptr.dtype.element_ty), mask=offsets < size)
