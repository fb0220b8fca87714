"""The generated reference: every public name and operation has its place."""

import runpy
import sys
from pathlib import Path

import pytest

import enceladus
import enceladus.language as tl

TOOL = Path(__file__).parents[2] / "tools" / "reference.py"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    arguments, sys.argv = sys.argv, [str(TOOL), str(folder)]
    try:
        runpy.run_path(str(TOOL), run_name="__main__")
    finally:
        sys.argv = arguments
    return {page.stem: page.read_text() for page in folder.iterdir()}


def test_every_name_of_the_language_is_listed(pages):
    names = [name for name in tl.__all__ if name not in ("math", "extra")]
    assert [name for name in names if f"`tl.{name}" not in pages["language"]] == []


def test_every_public_name_of_the_host_is_listed(pages):
    assert [n for n in enceladus.__all__ if f"`enceladus.{n}" not in pages["host"]] == []


def test_methods_and_defaults_are_shown(pages):
    assert "Also `x.cast`, `x.to`." in pages["language"]
    assert "`tl.maximum(x, y, propagate_nan=PropagateNan.NONE)`" in pages["language"]


def test_environment_and_operations_have_rows(pages):
    assert "| `ENCELADUS_DEVICE` |" in pages["environment"]
    assert "| `dot` | Matrix |" in pages["operations"]
