"""Functions of float32 in the default math mode for every float32 there is, beside float64."""

import pytest

import enceladus
import enceladus.language as tl

torch = pytest.importorskip("torch")

CHUNK = 1 << 25
BLOCK = 1024
ULPS = 4
NEAR_ZERO = 1e-7  # absolute, of results below 1/4
LEAST_NORMAL = 2.0**-126


@enceladus.jit
def function_kernel(x_ptr, out_ptr, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, FUNCTION(tl.load(x_ptr + offsets)))


def floats(first):
    """The floats whose bits are the next CHUNK numbers."""
    bits = torch.arange(first - (1 << 31), first - (1 << 31) + CHUNK, device="cuda")
    return bits.to(torch.int32).view(torch.float32)


def is_within(found, wanted, vanishes):
    """Of each element whether it is as near to the float64 result as api.md 2.1 asks."""
    _, exponent = torch.frexp(wanted)
    ulp = torch.ldexp(torch.ones_like(wanted), (exponent - 24).clamp(min=-149))
    allowed = ULPS * ulp
    if vanishes:
        allowed = torch.where(wanted.abs() < LEAST_NORMAL, LEAST_NORMAL, allowed)
    else:
        allowed = torch.where(wanted.abs() < 0.25, allowed.clamp(min=NEAR_ZERO), allowed)
    found = found.double()
    # A result that rounds to infinity may also be the greatest float.
    alike = (found == wanted.float().double()) | (found.isnan() & wanted.isnan())
    return alike | ((found - wanted).abs() <= allowed)


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "log2", "tanh", "sigmoid", "erf", "rsqrt"])
def test_functions_are_within_four_ulp_for_every_float(name):
    reference = getattr(torch, name)
    for first in range(0, 1 << 32, CHUNK):
        x = floats(first)
        out = torch.empty_like(x)
        function_kernel[(CHUNK // BLOCK,)](x, out, FUNCTION=getattr(tl, name), BLOCK=BLOCK)
        right = is_within(out, reference(x.double()), vanishes=name.startswith("exp"))
        if not right.all():
            at = int((~right).nonzero()[0])
            pytest.fail(f"{name}({float(x[at])!r}) is {float(out[at])!r}")
