"""The comparison itself can fail: it sees each kind of wrong result."""

import ml_dtypes
import numpy as np
import pytest
from cases.case import EXACT, Tolerance
from cases.compare import check, spacing

GOOD = np.array([1.0, np.nan, np.inf, -0.0, 1e-3], np.float32)


def changed(index, value):
    result = GOOD.copy()
    result[index] = value
    return result


@pytest.mark.parametrize(
    ("index", "value"),
    [(0, 1.0000001), (0, np.nan), (1, 0.0), (2, -np.inf), (2, 3e38), (3, 0.0), (4, 2e-3)],
)
def test_difference_is_seen(index, value):
    check("x", GOOD, GOOD, EXACT, signed=True)
    with pytest.raises(AssertionError, match="1 of 5 elements are wrong"):
        check("x", changed(index, value), GOOD, EXACT, signed=True)


def test_tolerances_add_up_to_what_they_say():
    want = np.array([100.0], np.float64)
    check("x", np.array([100.9], np.float32), want, Tolerance(relative=0.01), signed=False)
    with pytest.raises(AssertionError):
        check("x", np.array([101.1], np.float32), want, Tolerance(relative=0.01), signed=False)
    check("x", np.array([102.0], np.float32), want, Tolerance(0.01, 1.1), signed=False)


def test_integers_are_compared_exactly():
    with pytest.raises(AssertionError, match=r"\(1,\): .*3.*, wanted .*2"):
        check("x", np.array([1, 3]), np.array([1, 2]), Tolerance(0.9), signed=False)


def test_spacing_is_one_unit_in_the_last_place():
    values = np.array([1.0, 1.5, 2.0, 1e-40, 0.0])
    assert spacing(values, np.dtype(np.float32))[:3].tolist() == [2**-23, 2**-23, 2**-22]
    assert spacing(values, np.dtype(np.float32))[3] == 2.0**-149
    assert spacing(values, np.dtype(ml_dtypes.bfloat16))[0] == 2**-7
