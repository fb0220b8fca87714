"""Runs every kernel case on the interpreter and on every target, and compares with NumPy.

Launches go through the public API, the interpreter's by ENCELADUS_INTERPRET.
"""

import pytest
from cases import CASES
from cases.case import Case
from cases.launching import check_results, copied

import enceladus
from enceladus import _core

# The simulator has a runner of its own: test_metal_sim.py.
TARGETS = [
    "interpreter",
    *(device.name for device in enceladus.devices() if device != "metal-sim"),
]


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


@pytest.mark.filterwarnings("error:the compiler refuses this kernel")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("target", TARGETS)
def test_case(target, case, monkeypatch):
    arguments = case.inputs()
    before = copied(arguments)
    launch(target, case, arguments, monkeypatch)
    check_results(case, before, arguments)


def test_case_names_are_unique():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
