"""Runs every kernel case on the interpreter and on every target, and compares with NumPy.

Launches go through the public API, the interpreter's by ENCELADUS_INTERPRET.
"""

import numpy as np
import pytest
from cases import CASES
from cases.case import Case
from cases.compare import check

import enceladus
from enceladus import _core

TARGETS = ["interpreter", *(device.name for device in enceladus.devices())]
# Whole copies of larger arguments would cost more than they show.
COPY_LIMIT = 1 << 24


def launch(target: str, case: Case, arguments, monkeypatch):
    options = {"num_warps": case.num_warps, **case.options}
    if target == "interpreter":
        monkeypatch.setenv("ENCELADUS_INTERPRET", "1")
        case.kernel[case.grid](**arguments, **options)
        return
    if not hasattr(_core, "compile"):
        pytest.skip("this build has no compiler")
    monkeypatch.delenv("ENCELADUS_INTERPRET", raising=False)
    with enceladus.device(target):
        case.kernel[case.grid](**arguments, **options)


def copied(arguments):
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
        if not isinstance(value, np.ndarray) or value.nbytes <= COPY_LIMIT
    }


def wanted_array(initial, expected):
    """What an argument holds afterwards: the expected part, and the rest as it was."""
    whole = initial.copy()
    expected = np.asarray(expected)
    if expected.shape == initial.shape:
        return expected
    if expected.dtype.kind == "f" and expected.dtype != initial.dtype:
        whole = whole.astype(expected.dtype)
    whole[: len(expected)] = expected
    return whole


@pytest.mark.filterwarnings("error:the compiler refuses this kernel")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("target", TARGETS)
def test_case(target, case, monkeypatch):
    arguments = case.inputs()
    before = copied(arguments)
    launch(target, case, arguments, monkeypatch)
    expected = case.expected(copied(before))
    assert expected, "a case expects something"
    for name, initial in before.items():
        if not isinstance(initial, np.ndarray):
            continue
        if name in expected:
            want = wanted_array(initial, expected[name])
            check(name, arguments[name], want, case.tolerance, case.signed_zeros)
        else:
            assert arguments[name].tobytes() == initial.tobytes(), f"{name} was changed"


def test_case_names_are_unique():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
