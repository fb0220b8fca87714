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


def flushed(arrays, like=None):
    """The same with zeros of their sign for the denormals of float32 and bfloat16 arguments.

    Args:
        arrays: by name of the argument.
        like: the arguments, where `arrays` are references of higher precision.
    """
    result = dict(arrays)
    for name, value in arrays.items():
        argument = (like or arrays)[name]
        if isinstance(argument, np.ndarray) and argument.dtype.name in ("float32", "bfloat16"):
            value = np.asarray(value)
            wide = value.astype(np.float64)
            tiny = (np.abs(wide) < np.finfo(np.float32).tiny) & (wide != 0)
            zeros = np.copysign(0.0, wide).astype(value.dtype)
            result[name] = np.where(tiny, zeros, value)
    return result


def check_results(case, before, arguments, flush=lambda arrays, like: arrays):
    """Compares what a launch left in its arguments with what the case expects.

    Args:
        case: the case.
        before: the arguments before the launch.
        arguments: the same after it.
        flush: what the target does to the results of the reference.
    """
    expected = flush(case.expected(copied(before)), arguments)
    assert expected, "a case expects something"
    for name, initial in before.items():
        if not isinstance(initial, np.ndarray):
            continue
        if name in expected:
            want = wanted_array(initial, expected[name])
            check(name, arguments[name], want, case.tolerance, case.signed_zeros)
        else:
            assert arguments[name].tobytes() == initial.tobytes(), f"{name} was changed"
