"""Runs every kernel case on the Metal simulator: 1, 4 and 8 warps, two schedules.

The simulator is strict: whatever it finds wrong with a kernel fails the case, right numbers or not.
Each compiled kernel runs under both schedules, as compiling is what takes the time. Its text is
searched for what Apple's compiler would refuse but the simulator's would not.
"""

import re

import numpy as np
import pytest
from cases import CASES
from cases.launching import check_results, copied, flushed, wanted_array

import enceladus
from enceladus.testing import simulated

pytestmark = pytest.mark.skipif(
    "metal-sim" not in enceladus.devices(), reason="the simulator is for Linux on x86-64"
)
SCHEDULES = [("in order", 0), ("random", 7)]
# What orders these programs is an atomic, and Metal's atomics order no other memory: the simulator
# is right to report a race.
ORDERED_BY_ATOMICS = ("a lock of cas and xchg",)
# A result of 16,384 elements of 4 bytes is 512 registers a thread of one warp; the limit is 256.
TOO_LARGE_FOR_ONE_WARP = re.compile(r"dot \w+ 128x128x32|matmul .* by \(128, 128, \d+\)")
# A pointer without an address space, which OpenCL takes for a generic one.
GENERIC_POINTER = re.compile(
    r"(?:^|[(,;{])\s*(?:const )?(?:bool|u?char|u?short|u?int|u?long|half|bfloat|float)\d?\s*\*",
    re.MULTILINE,
)


def expected_error(case, arguments, warps):
    """The error that Metal's limits ask for, and what it names; None for most cases."""
    arrays = [value for value in arguments.values() if isinstance(value, np.ndarray)]
    if any(array.dtype == np.float64 for array in arrays):
        return enceladus.CompilationError, "float64"
    if re.match(r"atomic .*int64", case.name):
        return enceladus.CompilationError, "a 64-bit atomic"
    if TOO_LARGE_FOR_ONE_WARP.fullmatch(case.name) and warps == 1:
        return enceladus.CompilationError, "512 registers a thread with num_warps=1"
    if case.name in ORDERED_BY_ATOMICS:
        return enceladus.MetalError, "race"
    return None


def bits(array):
    return array.view(f"u{array.dtype.itemsize}")


def as_if_flushed(case, before, after):
    """Results with zeros for the denormals that an element was moved with, bit for bit.

    Whether an operation flushes is its own affair: those that only move bits need not, so that
    elements of one array may differ in it.
    """
    kept, zeros = case.expected(copied(before)), case.expected(copied(flushed(before)))
    result = dict(after)
    for name, want in kept.items():
        got = after[name]
        if np.asarray(want).dtype == got.dtype:
            is_kept = bits(got) == bits(wanted_array(before[name], want))
            result[name] = np.where(is_kept, wanted_array(before[name], zeros[name]), got)
    return result


def check(case, before, after):
    """Compares results; float32 and bfloat16 denormals may be zeros, as GPUs flush them."""
    try:
        check_results(case, before, after)
    except AssertionError:
        after = as_if_flushed(case, before, after)
        check_results(case, flushed(before), flushed(after), flush=flushed)


@pytest.mark.filterwarnings("error:the compiler refuses this kernel")
@pytest.mark.parametrize("warps", [4, 1, 8], ids=lambda warps: f"{warps}warps")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case, warps, monkeypatch):
    monkeypatch.delenv("ENCELADUS_INTERPRET", raising=False)
    options = {**case.options, "num_warps": warps}
    for schedule, seed in SCHEDULES:
        arguments = case.inputs()
        before = copied(arguments)
        error = expected_error(case, arguments, warps)
        with simulated(schedule, seed), enceladus.device("metal-sim"):
            if error is not None:
                with pytest.raises(error[0], match=error[1]):
                    case.kernel[case.grid](**arguments, **options)
                return
            case.kernel[case.grid](**arguments, **options)
        check(case, before, arguments)
    with enceladus.device("metal-sim"):
        text = case.kernel.warmup(**arguments, **options).msl
    assert not GENERIC_POINTER.search(text), text
    assert not re.search(r"\bdouble\b", text), text
