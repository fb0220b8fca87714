"""What the runners of the cases share: copies of arguments, and the comparison of results."""

import numpy as np

from .compare import check

# Whole copies of larger arguments would cost more than they show.
COPY_LIMIT = 1 << 24


def copied(arguments):
    """The arguments, arrays copied; those too large to copy are left out."""
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


def check_results(case, before, arguments):
    """Compares what a launch left in its arguments with what the case expects."""
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
