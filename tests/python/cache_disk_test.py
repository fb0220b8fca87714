"""The disk cache: what a new process finds, what it never trusts, what it does without."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enceladus
from counting import Compilations, module_of, run_script, start_script

SCRIPT = """
import sys, warnings
import numpy as np
import pytest
import enceladus, enceladus.language as tl
from counting import Compilations
VALUE = int(sys.argv[1])

def scale():
    return 2 * VALUE

@enceladus.jit
def helper(x):
    return x + scale()

@enceladus.jit
def fill(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, helper(tl.zeros((BLOCK,), tl.float32)), mask=offsets < n)

compilations = Compilations(pytest.MonkeyPatch())
out = np.zeros(100, np.float32)
fill[lambda meta: enceladus.cdiv(100, meta["BLOCK"])](out, 100, BLOCK=32)
assert (out == 2 * VALUE).all(), out
print(compilations.count)
"""

KERNEL = """
import enceladus, enceladus.language as tl

@enceladus.jit
def fill(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 7 + tl.zeros((BLOCK,), tl.float32), mask=offsets < n)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(folder))
    return folder


def compiled_by_script(folder: Path, value: int, **environment: str) -> int:
    return int(run_script(SCRIPT, folder, str(value), **environment)[0])


def launch(kernel: Any) -> None:
    out = np.zeros(50, np.float32)
    kernel[(2,)](out, 50, BLOCK=32)
    assert (out == 7).all()


def artifacts(cache: Path) -> list[Path]:
    return sorted(cache.glob("kernels/*/*.kernel"))


def test_a_new_process_finds_what_another_compiled(tmp_path: Path) -> None:
    assert compiled_by_script(tmp_path, 1) == 1
    assert compiled_by_script(tmp_path, 1) == 0


def test_a_changed_dependency_is_another_entry(tmp_path: Path, cache: Path) -> None:
    assert compiled_by_script(tmp_path, 1) == 1
    assert compiled_by_script(tmp_path, 2) == 1
    assert len(artifacts(cache)) == 2
    assert compiled_by_script(tmp_path, 1) == 0
    assert compiled_by_script(tmp_path, 2) == 0


def test_always_compile_ignores_the_disk(tmp_path: Path) -> None:
    assert compiled_by_script(tmp_path, 1) == 1
    assert compiled_by_script(tmp_path, 1, ENCELADUS_ALWAYS_COMPILE="1") == 1


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "text"])
@pytest.mark.parametrize("pattern", ["*.kernel", "*.names"])
def test_a_damaged_entry_is_compiled_and_written_again(
    tmp_path: Path, cache: Path, damage: str, pattern: str
) -> None:
    assert compiled_by_script(tmp_path, 1) == 1
    (path,) = cache.glob(f"kernels/*/{pattern}")
    good = path.read_bytes()
    middle = len(good) // 2
    path.write_bytes(
        {
            "truncated": good[:middle],
            "flipped": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
            "empty": b"",
            "text": b"not a kernel at all\n",
        }[damage]
    )
    assert compiled_by_script(tmp_path, 1) == 1
    assert compiled_by_script(tmp_path, 1) == 0


def test_folders_are_private(cache: Path) -> None:
    launch(module_of(KERNEL)["fill"])
    for folder in (cache, cache / "kernels", *cache.glob("kernels/*")):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_eight_processes_at_once(tmp_path: Path, cache: Path) -> None:
    processes = [start_script(SCRIPT, tmp_path, "3") for _ in range(8)]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    assert len(artifacts(cache)) == 1
    assert not list(cache.glob("kernels/*/.writing-*"))
    assert compiled_by_script(tmp_path, 3) == 0


def test_an_unusable_folder_gives_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="cannot keep compiled kernels in") as record:
        launch(module_of(KERNEL)["fill"])
        launch(module_of("\n" + KERNEL)["fill"])
    assert len(record) == 1


def test_a_full_disk_leaves_nothing_behind(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        launch(module_of(KERNEL)["fill"])
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_dump_writes_every_stage_and_says_where(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENCELADUS_DUMP", "1")
    kernel = module_of(KERNEL)["fill"]
    launch(kernel)
    lines = capsys.readouterr().err.splitlines()
    stages = kernel.warmup(np.zeros(50, np.float32), 50, BLOCK=32).asm
    assert set(stages) >= {"ir", "llir"}
    assert len(lines) == len(stages)
    for line, (stage, text) in zip(lines, stages.items(), strict=True):
        start, _, path = line.partition(f" {stage}: ")
        assert start == "enceladus: fill"
        assert Path(path).read_text() == text
        assert cache in Path(path).parents


def test_an_override_replaces_the_generated_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = module_of(KERNEL)
    text = scope["fill"].warmup(np.zeros(50, np.float32), 50, BLOCK=32).llir
    seven = "7.000000e+00"
    assert seven in text
    (tmp_path / "fill.ll").write_text(text.replace(seven, "9.000000e+00"))
    monkeypatch.setenv("ENCELADUS_OVERRIDE_DIR", str(tmp_path))
    out = np.zeros(50, np.float32)
    module_of(KERNEL)["fill"][(2,)](out, 50, BLOCK=32)
    assert (out == 9).all()
    (tmp_path / "fill.ll").write_text("define void @run() {\n  frobnicate\n}\n")
    with pytest.raises(enceladus.CompilationError, match="override of `fill`: LLVM IR:2:3"):
        module_of(KERNEL)["fill"][(2,)](out, 50, BLOCK=32)


def test_threads_compile_one_specialization_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compilations = Compilations(monkeypatch)
    kernel = module_of(KERNEL)["fill"]
    start = threading.Barrier(6)
    failures: list[BaseException] = []

    def work() -> None:
        start.wait()
        try:
            launch(kernel)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert compilations.count == 1


def test_a_failed_compilation_leaves_the_kernel_usable() -> None:
    text = KERNEL.replace("7 +", "factor +").replace("n, BLOCK", "n, factor, BLOCK")
    kernel = module_of(text.replace("+ tl.zeros((BLOCK,)", "+ tl.zeros((n,)", 1))["fill"]
    out = np.zeros(50, np.float32)
    for _ in range(2):
        with pytest.raises(enceladus.CompilationError) as caught:
            kernel[(2,)](out, 50, 7, BLOCK=32)
        assert caught.value.diagnostics[0].line == 7
        assert "^" in str(caught.value)
    launch(module_of(KERNEL)["fill"])
