"""Runs every kernel case on the interpreter and on every target, and compares with NumPy."""

import os

import numpy as np
import pytest
from cases import CASES
from cases.case import Case
from cases.compare import check

import enceladus
from enceladus import interpreter

TARGETS = ["interpreter", *(device.name for device in enceladus.devices())]
# Whole copies of larger arguments would cost more than they show.
COPY_LIMIT = 1 << 24


def constexpr_names(kernel):
    return {parameter.name for parameter in kernel.parameters if parameter.is_constexpr}


def launch(target: str, case: Case, arguments):
    if target == "interpreter":
        interpreter.run(case.kernel.fn, case.grid, arguments, constexpr_names(case.kernel))
        return
    if not hasattr(case.kernel, "__getitem__"):
        pytest.skip("kernels cannot be launched on a compiled target yet")
    with enceladus.device(target):
        case.kernel[case.grid](**arguments, num_warps=case.num_warps, **case.options)


def copied(arguments):
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
        if not isinstance(value, np.ndarray) or value.nbytes <= COPY_LIMIT
    }


def run(target: str, case: Case):
    """The arguments before and after the launch of a case."""
    arguments = case.inputs()
    before = copied(arguments)
    launch(target, case, arguments)
    return before, arguments


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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("target", TARGETS)
def test_case(target, case):
    before, after = run(target, case)
    expected = case.expected(copied(before))
    assert expected, "a case expects something"
    for name, initial in before.items():
        if not isinstance(initial, np.ndarray):
            continue
        if name in expected:
            want = wanted_array(initial, expected[name])
            check(name, after[name], want, case.tolerance, case.signed_zeros)
        else:
            assert after[name].tobytes() == initial.tobytes(), f"{name} was changed"


def test_case_names_are_unique():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


@pytest.mark.skipif("ENCELADUS_INTERPRET" in os.environ, reason="sets the variable itself")
def test_interpreter_runs_through_the_public_launch(monkeypatch):
    case = CASES[0]
    if not hasattr(case.kernel, "__getitem__"):
        pytest.skip("kernels cannot be launched yet")
    monkeypatch.setenv("ENCELADUS_INTERPRET", "1")
    arguments = case.inputs()
    expected = case.expected(copied(arguments))
    case.kernel[case.grid](**arguments)
    for name, want in expected.items():
        check(name, arguments[name][: len(want)], want, case.tolerance, case.signed_zeros)
