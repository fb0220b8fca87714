"""`enceladus.testing`: comparing arrays, reports, and the parts of do_bench that need no kernel."""

from __future__ import annotations

import csv
import subprocess
import sys
import time

import ml_dtypes
import numpy as np
import pytest

from enceladus._timing import Work, time_once
from enceladus.testing import Benchmark, assert_close, do_bench, perf_report


def test_assert_close_takes_what_float32_rounds():
    assert_close(np.float32([1, 2]), np.float32([1, 2.00001]))
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 2"):
        assert_close(np.float32([1, 2]), np.float32([1, 2.001]))


def test_assert_close_uses_the_coarser_dtype():
    exact = np.linspace(0, 1, 100, dtype=np.float32)
    assert_close(exact.astype(np.float16), exact)
    assert_close(exact.astype(ml_dtypes.bfloat16), exact)
    with pytest.raises(AssertionError):
        assert_close(exact.astype(ml_dtypes.bfloat16), exact, atol=1e-5, rtol=1e-5)


def test_assert_close_compares_integers_exactly():
    big = np.int64([1 << 60])
    with pytest.raises(AssertionError):
        assert_close(big, big + 1)


def test_assert_close_takes_nan_and_infinity_for_equal():
    values = np.float32([np.nan, np.inf, -np.inf])
    assert_close(values, values)
    with pytest.raises(AssertionError):
        assert_close(values, -values)


def test_assert_close_refuses_other_shapes():
    with pytest.raises(AssertionError, match=r"\(2,\) and \(1, 2\)"):
        assert_close(np.zeros(2), np.zeros((1, 2)))


def test_assert_close_takes_torch_bfloat16_and_callable_tolerances():
    torch = pytest.importorskip("torch")
    x = torch.linspace(0, 1, 50, dtype=torch.bfloat16)
    assert_close(x, x.float().numpy())
    assert_close(x, x.float() + 0.5, atol=lambda dtype: 0.6)


BENCH = Benchmark(
    x_names=["m", "n"],
    x_vals=[16, (32, 8)],
    line_arg="provider",
    line_vals=["a", "b"],
    line_names=["Ours", "Theirs"],
    plot_name="demo",
    args={"scale": 2.0},
    ylabel="GB/s",
    x_log=True,
)


def run_demo(m, n, provider, scale):
    value = m * n * scale
    return (value, value - 1, value + 1) if provider == "a" else value / 3


def test_perf_report_prints_a_table_and_writes_csv_and_png(tmp_path, capsys):
    rows = perf_report(BENCH)(run_demo).run(print_data=True, save_path=tmp_path / "out")
    assert rows[1] == {"m": 32, "n": 8, "Ours": 512.0, "Theirs": 512 / 3}
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "demo:"
    assert lines[1].split() == ["m", "n", "Ours", "Theirs"]
    assert lines[3].split() == ["32", "8", "512.000000", "170.666667"]
    with open(tmp_path / "out" / "demo.csv", newline="") as file:
        assert list(csv.reader(file))[2] == ["32", "8", "512.0", "170.666667"]
    assert (tmp_path / "out" / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_perf_report_without_matplotlib_warns_and_keeps_the_csv(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.warns(UserWarning, match="needs matplotlib"):
        perf_report(BENCH)(run_demo).run(save_path=tmp_path)
    assert (tmp_path / "demo.csv").exists()


def test_perf_report_takes_several_benchmarks_and_passes_keywords_on():
    bench = Benchmark(["n"], [1], "provider", ["a"], ["A"], "one")
    reports = perf_report([bench, bench])(lambda n, provider, extra: float(extra)).run(extra=5)
    assert reports == [[{"n": 1, "A": 5.0}]] * 2


def test_benchmark_refuses_lines_without_names():
    with pytest.raises(ValueError, match="2 line_vals but 1 line_names"):
        Benchmark(["n"], [1], "p", ["a", "b"], ["A"], "bad")


def test_importing_the_package_leaves_matplotlib_rich_and_torch_alone():
    text = (
        "import sys, enceladus, enceladus.testing; "
        "print([m for m in ('matplotlib', 'rich', 'torch', 'mlx', 'jax') if m in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert output.stdout.strip() == "[]", output.stderr


def test_a_span_holds_the_call_and_not_its_preparation():
    work = Work(lambda: time.sleep(0.01), lambda: time.sleep(0.05), lambda: time.sleep(0.05))
    assert 10 <= time_once(work) < 40


def test_do_bench_refuses_unknown_modes_and_quantiles():
    with pytest.raises(ValueError, match="the modes are min, max, mean, median, all"):
        do_bench(lambda: None, return_mode="best")
    with pytest.raises(ValueError, match="between 0 and 1"):
        do_bench(lambda: None, quantiles=[50])
