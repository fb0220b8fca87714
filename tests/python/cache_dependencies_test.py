"""A kernel whose globals, helpers or module attributes change is compiled again, and only then."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enceladus
from counting import Compilations, module_of

HEAD = """
import enceladus
import enceladus.language as tl
"""

FILL = """
@enceladus.jit
def fill(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, {value} + tl.zeros((BLOCK,), tl.float32), mask=offsets < n)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Compilations:
    return Compilations(monkeypatch)


def filled(kernel: Any) -> float:
    out = np.zeros(4, np.float32)
    kernel[(1,)](out, 4, BLOCK=4)
    assert (out == out[0]).all()
    return float(out[0])


def test_a_changed_global_is_seen(compilations: Compilations) -> None:
    scope = module_of(HEAD + "VALUE = 3\n" + FILL.format(value="VALUE"))
    assert [filled(scope["fill"]) for _ in range(3)] == [3, 3, 3]
    assert compilations.count == 1
    scope["VALUE"] = 5
    assert filled(scope["fill"]) == 5
    scope["VALUE"] = 3
    assert filled(scope["fill"]) == 3
    scope["VALUE"] = 5
    assert filled(scope["fill"]) == 5
    assert compilations.count == 2


def test_an_unrelated_or_equal_global_compiles_nothing(compilations: Compilations) -> None:
    scope = module_of(HEAD + "VALUE = 3000\n" + FILL.format(value="VALUE"))
    assert filled(scope["fill"]) == 3000
    scope["OTHER"] = 1
    assert filled(scope["fill"]) == 3000
    scope["VALUE"] = int("3000")  # another object
    assert filled(scope["fill"]) == 3000
    assert compilations.count == 1


def test_a_changed_helper_is_seen(compilations: Compilations) -> None:
    helper = "@enceladus.jit\ndef value():\n    return {}\n"
    scope = module_of(HEAD + helper.format(1.5) + FILL.format(value="value()"))
    assert filled(scope["fill"]) == 1.5
    scope["value"] = module_of(HEAD + helper.format(2.5))["value"]
    assert filled(scope["fill"]) == 2.5
    assert compilations.count == 2


def test_a_global_of_a_helpers_module_is_seen(compilations: Compilations) -> None:
    library = module_of(HEAD + "LEVEL = 2\n@enceladus.jit\ndef level():\n    return LEVEL\n")
    scope = module_of(HEAD + FILL.format(value="level()"), level=library["level"])
    assert filled(scope["fill"]) == 2
    library["LEVEL"] = 9
    assert filled(scope["fill"]) == 9
    assert compilations.count == 2


def test_a_module_attribute_is_seen(compilations: Compilations) -> None:
    settings: Any = types.ModuleType("settings")
    settings.VALUE = 4
    scope = module_of(HEAD + FILL.format(value="settings.VALUE"), settings=settings)
    assert filled(scope["fill"]) == 4
    settings.UNRELATED = 1
    assert filled(scope["fill"]) == 4
    assert compilations.count == 1
    settings.VALUE = 6
    assert filled(scope["fill"]) == 6


def test_what_a_plain_python_helper_reads_is_seen(compilations: Compilations) -> None:
    text = "SIZE = 2\ndef inner():\n    return SIZE\ndef value():\n    return 10 * inner()\n"
    scope = module_of(HEAD + text + FILL.format(value="value()"))
    assert filled(scope["fill"]) == 20
    scope["SIZE"] = 7
    assert filled(scope["fill"]) == 70
    scope["inner"] = lambda: 1
    assert filled(scope["fill"]) == 10
    assert compilations.count == 3


def test_a_mutated_container_is_seen(compilations: Compilations) -> None:
    scope = module_of(
        HEAD + "TABLE = [1, 2]\ndef value():\n    return TABLE[0]\n" + FILL.format(value="value()")
    )
    assert filled(scope["fill"]) == 1
    scope["TABLE"][0] = 8
    assert filled(scope["fill"]) == 8
    assert compilations.count == 2


def test_a_closure_variable_is_seen(compilations: Compilations) -> None:
    text = """
def make():
    value = 2
    def change(new):
        nonlocal value
        value = new
    @enceladus.jit
    def fill(out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, value + tl.zeros((BLOCK,), tl.float32), mask=offsets < n)
    return fill, change
"""
    fill, change = module_of(HEAD + text)["make"]()
    assert filled(fill) == 2
    change(11)
    assert filled(fill) == 11
    assert compilations.count == 2


def test_a_jit_function_given_as_constexpr_is_part_of_the_key(compilations: Compilations) -> None:
    text = (
        HEAD
        + """
K = 2
@enceladus.jit
def double(x):
    return x * K
@enceladus.jit
def square(x):
    return x * x
@enceladus.jit
def apply(out_ptr, n, f: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(out_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, f(x), mask=offsets < n)
"""
    )
    scope = module_of(text)
    for function, expected in (("double", 6), ("square", 9), ("double", 6)):
        out = np.full(4, 3, np.float32)
        scope["apply"][(1,)](out, 4, f=scope[function], BLOCK=4)
        assert (out == expected).all()
    assert compilations.count == 2
    scope["K"] = 4
    out = np.full(4, 3, np.float32)
    scope["apply"][(1,)](out, 4, f=scope["double"], BLOCK=4)
    assert (out == 12).all()


def test_many_compilations_warn_once_and_name_the_argument() -> None:
    scope = module_of(HEAD + FILL.format(value="n"))
    out = enceladus.zeros(4)
    with pytest.warns(RuntimeWarning, match="was compiled 17 times; argument `BLOCK`") as record:
        for size in range(20):
            scope["fill"][(1,)](out, 3 if size % 2 else 16, BLOCK=2 ** (size // 2), num_warps=4)
    assert len(record) == 1
