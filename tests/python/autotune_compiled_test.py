"""The autotuner and do_bench over compiled kernels."""

from __future__ import annotations

import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus import Config
from enceladus.testing import do_bench

CONFIGS = [Config({"BLOCK": 64}), Config({"BLOCK": 1024}), Config({"BLOCK": 256})]
GRID = lambda meta: (enceladus.cdiv(meta["n"], meta["BLOCK"]),)  # noqa: E731
QUICK = {"warmup": 0, "rep": 1}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(params=["numpy", "tensor", "torch"])
def array(request):
    if request.param == "torch":
        return pytest.importorskip("torch").from_numpy
    return enceladus.from_numpy if request.param == "tensor" else np.asarray


@enceladus.jit
def increment(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1.0, mask=mask)


@enceladus.jit
def mark(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + BLOCK, mask=offsets < n)


@enceladus.jit
def refuses_64(x_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 64, "BLOCK is too small")
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 3.0, mask=offsets < n)


def test_an_updating_kernel_has_run_once_after_the_first_launch(array):
    host = np.arange(1000, dtype=np.float32)
    x = array(host)
    kernel = enceladus.autotune(CONFIGS, ["n"], **QUICK)(increment)
    kernel[GRID](x, 1000)
    enceladus.synchronize()
    np.testing.assert_array_equal(np.asarray(x), np.arange(1, 1001))
    kernel[GRID](x, 1000)
    enceladus.synchronize()
    np.testing.assert_array_equal(np.asarray(x), np.arange(2, 1002))


def test_only_the_chosen_configs_stores_are_there(array):
    x, out = array(np.zeros(100, np.float32)), array(np.zeros(100, np.float32))
    kernel = enceladus.autotune(CONFIGS, ["n"], **QUICK)(mark)
    kernel[GRID](x, out, 100)
    enceladus.synchronize()
    np.testing.assert_array_equal(np.asarray(out), kernel.best_config.kwargs["BLOCK"])
    np.testing.assert_array_equal(np.asarray(x), 0)


def test_check_candidates_names_the_argument_in_which_they_differ():
    x, out = np.zeros(100, np.float32), np.zeros(100, np.float32)
    kernel = enceladus.autotune(CONFIGS, ["n"], check_candidates=True, **QUICK)(mark)
    with pytest.warns(UserWarning, match="stores other values in `out_ptr`") as caught:
        kernel[GRID](x, out, 100)
    assert len(caught) == 2  # each of the two others differs from the first


def test_a_config_that_does_not_compile_is_skipped_with_one_warning():
    x = np.zeros(100, np.float32)
    kernel = enceladus.autotune(CONFIGS, ["n"], **QUICK)(refuses_64)
    with pytest.warns(UserWarning, match="skipped 1 of 3 configs") as caught:
        kernel[GRID](x, 100)
    assert len(caught) == 1 and "BLOCK is too small" in str(caught[0].message)
    np.testing.assert_array_equal(x, 3)


def test_when_no_config_compiles_the_first_error_is_raised():
    kernel = enceladus.autotune(CONFIGS[:1] * 2, ["n"], **QUICK)(refuses_64)
    with pytest.raises(enceladus.CompilationError, match="BLOCK is too small"):
        kernel[GRID](np.zeros(100, np.float32), 100)


def test_heuristics_and_configs_together():
    @enceladus.autotune(CONFIGS, ["n"], **QUICK)
    @enceladus.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
    @enceladus.jit
    def fill(x_ptr, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            tl.store(x_ptr + offsets, 5.0)
        else:
            tl.store(x_ptr + offsets, 5.0, mask=offsets < n)

    for n in (1024, 1000):
        x = np.zeros(1100, np.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fill[GRID](x, n)
        np.testing.assert_array_equal(x[:n], 5)
        np.testing.assert_array_equal(x[n:], 0)


def test_warmup_and_explain_of_an_autotuned_kernel(capsys):
    x = np.zeros(1000, np.float32)
    kernel = enceladus.autotune(CONFIGS, ["n"], **QUICK)(increment)
    assert kernel.warmup(x, 1000).ir
    assert "increment" in str(kernel.explain(x, 1000))
    capsys.readouterr()


INTERRUPTED = """
import os, signal, sys
import numpy as np
import enceladus, enceladus.language as tl
from enceladus import Config

# A shell starts what runs in the background with SIGINT ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

@enceladus.jit
def increment(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1.0, mask=mask)

trials = []
def hook(named):
    trials.append(named["BLOCK"])
    if len(trials) == 5:
        print("tuning", flush=True)

kernel = enceladus.autotune(
    [Config({"BLOCK": 64}), Config({"BLOCK": 128})], ["n"], warmup=1000, rep=60000, pre_hook=hook
)(increment)
x = enceladus.from_numpy(np.zeros(1000, np.float32))
grid = lambda meta: (enceladus.cdiv(1000, meta["BLOCK"]),)
try:
    kernel[grid](x, 1000)
except KeyboardInterrupt:
    print("interrupted", float(x.numpy().max()), len(kernel.cache), flush=True)
increment[(16,)](x, 1000, BLOCK=64)
print("usable", x.tolist() == [1.0] * 1000)
"""


def test_ctrl_c_while_tuning_leaves_arguments_and_process_usable(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "tuning\n", process.stderr.read()
    process.send_signal(signal.SIGINT)
    try:
        output, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert output.splitlines() == ["interrupted 0.0 0", "usable True"], errors
    assert not list((tmp_path / "cache").glob("autotune/*.json"))


def test_do_bench_times_launches_on_tensors_and_torch(array):
    if array is np.asarray:
        pytest.skip("host arrays make a launch wait")
    x = array(np.zeros(1 << 20, np.float32))
    times = do_bench(lambda: increment[(1024,)](x, 1 << 20, BLOCK=1024), rep=30, return_mode="all")
    assert times and all(time > 0 for time in times)


def test_do_bench_refuses_a_launch_that_waits_and_names_the_argument():
    x = np.zeros(1000, np.float32)
    with pytest.raises(enceladus.EnceladusError, match="`x_ptr`"):
        do_bench(lambda: increment[(1,)](x, 1000, BLOCK=1024))
    increment[(1,)](x, 1000, BLOCK=1024)  # and only inside of do_bench


def test_do_bench_modes_and_quantiles_agree():
    x = enceladus.zeros(1 << 16, dtype="float32")
    call = lambda: increment[(64,)](x, 1 << 16, BLOCK=1024)  # noqa: E731
    low, middle, high = do_bench(call, rep=30, quantiles=[0.0, 0.5, 1.0])
    assert 0 < low <= middle <= high
    assert isinstance(do_bench(call, rep=10, quantiles=[0.5]), float)
    assert isinstance(do_bench(call, rep=10, return_mode="mean"), float)


def test_do_bench_clears_gradients():
    torch = pytest.importorskip("torch")
    leaf = torch.zeros(4, requires_grad=True)
    seen = []

    def step():
        seen.append(leaf.grad)
        leaf.sum().backward()

    do_bench(step, warmup=0, rep=1, grad_to_none=[leaf])
    assert len(seen) >= 2 and all(gradient is None for gradient in seen)
