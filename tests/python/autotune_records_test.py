"""What the autotuner keeps on disk: records, damage, locks, threads and processes."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fake_kernel import CONFIGS, GRID, arrays, make_kernel, tuned


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "autotune"


def test_results_persist(cache_folder):
    x, y = arrays()
    tuned(make_kernel())[GRID](x, y, 4)
    kernel = make_kernel()
    assert tuned(kernel).config_for(x, y, 4) == CONFIGS[1]  # without a grid: nothing is tuned
    assert not kernel.launches
    assert stat.S_IMODE(cache_folder.stat().st_mode) == 0o700


def test_results_are_not_kept_with_cache_results_off(cache_folder):
    tuned(make_kernel(), cache_results=False)[GRID](*arrays(), 4)
    assert not cache_folder.exists()


def test_always_compile_ignores_what_is_on_disk(monkeypatch):
    x, y = arrays()
    tuned(make_kernel())[GRID](x, y, 4)
    monkeypatch.setenv("ENCELADUS_ALWAYS_COMPILE", "1")
    kernel = make_kernel()
    tuned(kernel)[GRID](x, y, 4)
    assert len(kernel.compiled) == 3


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version": 1}', b"\xff\xfe\x00"])
def test_a_damaged_record_is_tuned_and_written_again(cache_folder, damage):
    x, y = arrays()
    tuned(make_kernel())[GRID](x, y, 4)
    (record,) = cache_folder.glob("*.json")
    good = json.loads(record.read_text())
    record.write_bytes(damage)
    kernel = make_kernel()
    tuned(kernel)[GRID](x, y, 4)
    assert len(kernel.compiled) == 3
    assert json.loads(record.read_text())["config"] == good["config"]


def test_a_record_that_names_another_config_is_not_trusted(cache_folder):
    x, y = arrays()
    tuned(make_kernel())[GRID](x, y, 4)
    (record,) = cache_folder.glob("*.json")
    content = json.loads(record.read_text())
    content["index"] = 2
    record.write_text(json.dumps(content))
    kernel = make_kernel()
    tuned(kernel)[GRID](x, y, 4)
    assert len(kernel.compiled) == 3


def test_an_unusable_cache_folder_does_not_stop_tuning(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path / "file" / "below"))
    fast = tuned(make_kernel())
    fast[GRID](*arrays(), 4)
    assert fast.best_config == CONFIGS[1]
    assert "not kept" in caplog.text


def test_two_threads_tune_one_key_once():
    kernel = make_kernel()
    fast = tuned(kernel)
    threads = [threading.Thread(target=lambda: fast[GRID](*arrays(), 4)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kernel.compiled) == 3
    assert len(fast.cache) == 1


PROCESS = """
import sys, time
sys.path.insert(0, {tests!r})
import numpy as np
from fake_kernel import FakeKernel
from enceladus import Config, autotune
kernel = FakeKernel(["x"], ["BLOCK"], seconds=lambda named: named["BLOCK"] * 0.01)
fast = autotune([Config({{"BLOCK": 9}}), Config({{"BLOCK": 1}})], ["x"][:0])(kernel)
fast[lambda meta: (1,)](np.zeros(4, np.float32))
print(len(kernel.compiled), fast.best_config)
"""


def test_two_processes_tune_one_key_once():
    text = PROCESS.format(tests=str(Path(__file__).parent))
    processes = [
        subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert sorted(output.split()[0] for output in outputs) == ["0", "0", "2"]
    assert all("{'BLOCK': 1}" in output for output in outputs)
