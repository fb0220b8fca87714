"""Every row of the tables in docs/language.md holds, in the interpreter and on the CPU."""

import linecache
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import enceladus
import enceladus.language as tl

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
TARGETS = ["interpreter", "cpu"]


def numpy_type(name):
    special = {"int1": bool, "bfloat16": ml_dtypes.bfloat16}
    return np.dtype(special.get(name, name))


def number(text):
    """A cell such as `int32 -7`: a NumPy array of one element; None for an empty cell."""
    if not text:
        return None
    name, value = text.split()
    value = float(value) if numpy_type(name).kind not in "iu" else int(value)
    return np.array([value]).astype(numpy_type(name))


def rows():
    found = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and cells[0].startswith("`"):
            found.append((cells[0].strip("`"), *cells[1:4]))
    return found


def kernel_of(expression, result):
    """Stores the expression, and whether its type is the one that the page gives."""
    is_constant = not re.search(r"\b[xy]\b", expression)
    text = (
        "def rule(x_ptr, y_ptr, out_ptr):\n"
        "    x = tl.load(x_ptr)\n"
        "    y = tl.load(y_ptr)\n"
        f"    result = {expression}\n"
        f"    tl.static_assert({is_constant} or result.dtype == tl.{result})\n"
        "    tl.store(out_ptr, result)\n"
    )
    name = f"<rule {expression} {result}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"tl": tl}
    exec(compile(text, name, "exec"), scope)
    return enceladus.jit(scope["rule"])


def test_the_page_has_its_rows():
    assert len(rows()) > 30


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("expression", "x", "y", "result"), rows(), ids=lambda cell: cell or "-")
def test_the_rule_holds(expression, x, y, result, target, monkeypatch):
    if target == "cpu" and "cpu" not in [device.name for device in enceladus.devices()]:
        pytest.skip("no CPU target")
    monkeypatch.setenv("ENCELADUS_INTERPRET", str(int(target == "interpreter")))
    expected = number(result)
    out = np.full(1, 77).astype(expected.dtype)
    first = number(x)
    second = number(y) if y else first
    with enceladus.device("cpu"):
        kernel_of(expression, result.split()[0])[(1,)](first, second, out)
    np.testing.assert_array_equal(out, expected)
