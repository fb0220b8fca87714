"""Environment variables: one table, read when they are used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import enceladus
from enceladus import _environment
from enceladus._environment import VARIABLES, cache_directory, parse_switch, read
from recording import RecordingKernel, request


def kernel_function(x_ptr, n):
    pass


def test_every_variable_has_a_default_and_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, variable in VARIABLES.items():
        monkeypatch.delenv(variable.full_name, raising=False)
        assert read(name) == variable.default
        assert variable.doc


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("DEVICE", "cpu", "cpu"),
        ("DEVICE", "", None),
        ("DEBUG", "1", True),
        ("DEBUG", " Off ", False),
        ("FLUSH_EVERY", "8", 8),
        ("FLUSH_EVERY", "", 64),
        ("NUM_THREADS", "3", 3),
        ("OVERRIDE_DIR", "/somewhere", "/somewhere"),
    ],
)
def test_values_are_parsed(
    name: str, text: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"ENCELADUS_{name}", text)
    assert read(name) == value


@pytest.mark.parametrize("text", ["many", "0", "-2", "1.5"])
def test_a_wrong_value_names_the_variable(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENCELADUS_NUM_THREADS", text)
    with pytest.raises(ValueError, match=rf"ENCELADUS_NUM_THREADS='{text}': .*threads of the CPU"):
        read("NUM_THREADS")


def test_the_cache_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("ENCELADUS_CACHE_DIR", raising=False)
    assert cache_directory() == "/home/somebody/.cache/enceladus"
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", "~/elsewhere")
    assert cache_directory() == "/home/somebody/elsewhere"
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", "relative")
    assert cache_directory() == str(Path.cwd() / "relative")


@pytest.mark.parametrize("text", ["1", "true", "on", "0", "", "no", "Off", " FALSE ", "0.0", "2"])
def test_the_launch_path_reads_switches_by_the_same_rules(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENCELADUS_DEBUG", text)
    monkeypatch.delenv("ENCELADUS_INTERPRET", raising=False)
    compiling = request(RecordingKernel(kernel_function), enceladus.zeros(4), 4)
    assert compiling.options["debug"] is parse_switch(text)


def test_every_variable_that_is_read_is_in_the_table() -> None:
    package = Path(_environment.__file__).parent
    for path in package.rglob("*.py"):
        text = path.read_text()
        assert path.name == "_environment.py" or "os.environ" not in text, path


def test_verification_after_every_pass_accepts_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    import enceladus.language as tl

    @enceladus.jit
    def double(x_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)

    monkeypatch.setenv("ENCELADUS_VERIFY", "1")
    monkeypatch.setenv("ENCELADUS_ALWAYS_COMPILE", "1")
    x = enceladus.ones(8)
    double[(1,)](x, 5, BLOCK=8)
    assert x.tolist() == [2.0] * 5 + [1.0] * 3
