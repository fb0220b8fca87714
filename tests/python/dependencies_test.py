"""Fingerprints of what kernels depend on, and how a new process finds it again."""

from __future__ import annotations

import enum
import math
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus._dependencies import (
    MISSING,
    UnstableError,
    expand,
    fingerprint,
    function_records,
    is_mutable,
    present_value,
)
from enceladus._owners import name_owners, resolve

SIZE = 8


class Mode(enum.Enum):
    FAST = 1
    EXACT = 2


@dataclass
class Settings:
    rows: int = 1


@enceladus.jit
def helper(a):
    return a


def size_of_block() -> int:
    return SIZE * doubled()


def doubled() -> int:
    return int(math.sqrt(4))


def test_fingerprints_tell_values_apart() -> None:
    values: list[Any] = [
        None,
        True,
        1,
        1.0,
        0.0,
        -0.0,
        math.inf,
        "1",
        b"1",
        (1,),
        [1],
        {1},
        {1: 2},
        {1: 3},
        (1, (2,)),
        ((1,), 2),
        Mode.FAST,
        Mode.EXACT,
        Mode,
        Settings(1),
        Settings(2),
        tl.float32,
        tl.float16,
        tl,
        math,
        tl.load,
        tl.store,
        math.sqrt,
        math.sin,
        helper,
        doubled,
        size_of_block,
        np.float32(1),
        np.float64(1),
        np.dtype("float32"),
    ]
    assert len({fingerprint(value) for value in values}) == len(values)


def test_equal_values_made_apart_share_a_fingerprint() -> None:
    assert fingerprint((1, "a" * 50)) == fingerprint((1, "".join(["a"] * 50)))
    assert fingerprint({1, 2, 3}) == fingerprint({3, 2, 1})
    assert fingerprint(Settings(4)) == fingerprint(Settings(4))
    assert fingerprint(np.zeros(5000)) == fingerprint(np.zeros(5000))


def test_every_element_of_an_array_counts() -> None:
    array = np.zeros(5000)
    before = fingerprint(array)
    array[2500] = 1
    assert fingerprint(array) != before
    assert is_mutable(array) and not is_mutable(np.float64(1))


def test_a_value_that_only_an_address_names_is_unstable() -> None:
    with pytest.raises(UnstableError):
        fingerprint(object())
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(UnstableError):
        fingerprint(endless)


def test_a_functions_fingerprint_follows_its_code_and_not_its_place() -> None:
    def compiled(text: str) -> types.FunctionType:
        scope: dict[str, Any] = {"__name__": "somewhere"}
        exec(text, scope)  # noqa: S102
        function = scope["f"]
        assert isinstance(function, types.FunctionType)
        return function

    plain = compiled("def f(x, y=1):\n    return x + 2\n")
    moved = compiled("\n\n# moved\ndef f(x, y=1):\n    return x + 2\n")
    assert fingerprint(plain) == fingerprint(moved)
    for other in (
        "def f(x, y=1):\n    return x + 3\n",
        "def f(x, y=2):\n    return x + 2\n",
        "def f(x, y=1):\n    return x - 2\n",
        "def f(x, y=1):\n    return (lambda: 5)() + x\n",
    ):
        assert fingerprint(compiled(other)) != fingerprint(plain)


def test_mutable_values_are_known() -> None:
    class Plain:
        pass

    assert all(is_mutable(value) for value in ([], {}, set(), Plain(), Settings(), ([],)))
    fixed = (None, 1, "a", (1, 2), Mode.FAST, tl.float32, helper, doubled, math, Mode)
    assert not any(is_mutable(value) for value in fixed)


def test_expand_follows_plain_functions_of_the_user() -> None:
    scope = globals()
    found = {name for _, name, _ in expand([(scope, "size_of_block", size_of_block)])}
    assert found == {"size_of_block", "SIZE", "doubled", "math", "sqrt"}
    library = expand([(scope, "subprocess", subprocess), (subprocess, "run", subprocess.run)])
    assert len(library) == 2


def test_present_value_reads_every_kind_of_owner() -> None:
    value = 3

    def closure() -> int:
        return value

    cell = (closure.__closure__ or ())[0]
    assert present_value(globals(), "SIZE") == 8
    assert present_value(cell, "value") == 3
    assert present_value(math, "pi") == math.pi
    assert present_value(Settings(7), "rows") == 7
    assert present_value({}, "nothing") is MISSING
    assert present_value(types.CellType(), "empty") is MISSING
    assert present_value(math, "nothing") is MISSING


def test_owners_are_named_and_found_again() -> None:
    factor = 3
    settings = Settings(5)

    @enceladus.jit
    def kernel(x_ptr):
        tl.store(x_ptr, factor * settings.rows + size_of_block())

    records = expand(
        [
            *function_records(kernel.fn),
            (tl, "store", tl.store),
            (settings, "rows", 5),
            (helper.fn.__globals__, "SIZE", SIZE),
        ]
    )
    named = name_owners(kernel, [None], records)
    assert named is not None
    paths, ordered = named
    assert len(paths) == len(records)
    found = resolve(kernel, [None], paths)
    assert found is not None
    # A module and its dict are one owner, so owners are compared by what they hold.
    assert [record[1:] for record in found] == [record[1:] for record in ordered]
    assert [present_value(owner, name) for owner, name, _ in found] == [v for _, _, v in ordered]
    assert ("f", "factor") in paths and ("g", "size_of_block") in paths


def test_globals_of_a_function_given_as_constexpr_have_a_path() -> None:
    scope: dict[str, Any] = {"__name__": "nowhere", "LEVEL": 4}
    exec("def level():\n    return LEVEL\n", scope)  # noqa: S102
    records = list(function_records(scope["level"]))
    assert name_owners(helper, [None], records) is None
    named = name_owners(helper, [None, scope["level"]], records)
    assert named is not None
    assert named[0] == [("p1:g", "LEVEL")]
    assert resolve(helper, [None, scope["level"]], named[0]) == records


def test_what_is_not_there_resolves_to_nothing() -> None:
    assert resolve(helper, [], [("g", "NO_SUCH_GLOBAL")]) is None
    assert resolve(helper, [], [("m:no_such_module", "x")]) is None
    assert resolve(helper, [], [("f", "x")]) is None


def test_digest_is_the_same_in_every_process_and_follows_globals(tmp_path: Path) -> None:
    text = """
import enceladus, enceladus.language as tl, sys
LIMIT = int(sys.argv[1])
def limit():
    return LIMIT
@enceladus.jit
def inner(a):
    return a * limit()
@enceladus.jit
def kernel(x_ptr):
    tl.store(x_ptr, inner(1))
print(kernel.digest())
"""
    path = tmp_path / "digested.py"
    path.write_text(text)

    def run(limit: int) -> str:
        command = [sys.executable, str(path), str(limit)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    first = run(1)
    assert len(first.strip()) == 32
    assert run(1) == first
    assert run(2) != first
