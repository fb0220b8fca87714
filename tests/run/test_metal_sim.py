"""Runs every kernel case on the Metal simulator, with 1, 4 and 8 warps and two schedules.

The simulator is strict: whatever it finds wrong with a kernel fails the case, right numbers or not.
Each compiled kernel runs under both schedules, as compiling is what takes the time.
"""

import numpy as np
import pytest
from cases import CASES
from cases.launching import check_results, copied

import enceladus
from enceladus.testing import simulated

pytestmark = pytest.mark.skipif(
    "metal-sim" not in enceladus.devices(), reason="the simulator is for Linux on x86-64"
)
SCHEDULES = [("in order", 0), ("random", 7)]
WARPS = [1, 4, 8]


def missing_on_metal(case, arguments):
    """What Metal does not have and the case needs, as its error names it; None for most."""
    arrays = [value for value in arguments.values() if isinstance(value, np.ndarray)]
    return "float64" if any(array.dtype == np.float64 for array in arrays) else None


@pytest.mark.filterwarnings("error:the compiler refuses this kernel")
@pytest.mark.parametrize("warps", WARPS, ids=lambda warps: f"{warps}warps")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case, warps, monkeypatch):
    monkeypatch.delenv("ENCELADUS_INTERPRET", raising=False)
    options = {**case.options, "num_warps": warps}
    for schedule, seed in SCHEDULES:
        arguments = case.inputs()
        before = copied(arguments)
        missing = missing_on_metal(case, arguments)
        with simulated(schedule, seed), enceladus.device("metal-sim"):
            if missing:
                with pytest.raises(enceladus.CompilationError, match=missing):
                    case.kernel[case.grid](**arguments, **options)
                return
            case.kernel[case.grid](**arguments, **options)
        check_results(case, before, arguments)
