"""`enceladus doctor`: what it reports, and that it sees a device that computes wrongly."""

import ctypes
import subprocess
import sys

import pytest

import enceladus
from enceladus import cli
from enceladus.cli import checks, doctor
from enceladus.cli.fragments import fragments
from enceladus.cli.limits import limits
from needs import needs_simulator

if "metal-sim" in enceladus.devices():
    from enceladus.testing._simulator import library


@pytest.fixture
def no_rates(monkeypatch):
    monkeypatch.setattr(doctor, "rates", lambda device, quick: [("copy", "1 GB/s", "238 GB/s")])


def test_every_check_passes_on_the_cpu(no_rates):
    report = doctor.examine("cpu")
    assert report.is_well, str(report)
    assert [finding.name for finding in report.findings] == [name for name, _ in checks.CHECKS]
    text = str(report)
    assert text.startswith("# enceladus doctor: cpu\n")
    assert f"- enceladus: {enceladus.__version__}" in text
    assert "| copy | 1 GB/s | 238 GB/s |" in text


def test_a_wrong_answer_is_told_and_fails_the_command(no_rates, monkeypatch, capsys):
    def softmax_of_something_else(x_ptr, out_ptr, columns, BLOCK):
        pass  # stores nothing

    monkeypatch.setattr(checks.kernels, "softmax_rows", softmax_of_something_else)
    monkeypatch.setattr(doctor, "CHECKS", (("rows", checks.rows),))
    assert cli.main(["doctor", "--device", "cpu"]) == 1
    assert "| rows | WRONG | softmax_of_something_else, 1 warps: off by" in capsys.readouterr().out


def test_a_check_that_cannot_run_is_a_row_and_not_a_crash(no_rates, monkeypatch, capsys):
    def broken(device):
        raise RuntimeError("no such instruction\nmore")

    monkeypatch.setattr(doctor, "CHECKS", (("broken", broken),))
    report = doctor.examine("cpu")
    assert not report.is_well
    assert "| broken | FAILED | RuntimeError: no such instruction |" in str(report)


def test_an_unknown_device_is_refused_with_those_that_exist(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["doctor", "--device", "abacus"])
    assert ended.value.code == 2
    assert "cpu" in capsys.readouterr().err


def test_the_report_is_written_where_asked(no_rates, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(doctor, "CHECKS", ())
    target = tmp_path / "report.md"
    assert cli.main(["doctor", "--device", "cpu", "--output", str(target)]) == 0
    assert target.read_text() == capsys.readouterr().out


def test_the_module_runs_as_a_command():
    answer = subprocess.run(
        [sys.executable, "-m", "enceladus", "--version"], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == enceladus.__version__


@needs_simulator
@pytest.mark.parametrize(
    "check",
    [fragments, limits, checks.math_modes, checks.conversions, checks.products],
    ids=lambda check: check.__name__,
)
def test_checks_pass_on_the_simulator(check):
    assert check("metal-sim")


@needs_simulator
def test_fragments_that_lie_in_another_way_are_told():
    library().call("set_fragment_layout", ctypes.c_int32(1))
    try:
        with pytest.raises(checks.MismatchError, match="`tl.dot` gives wrong results"):
            fragments("metal-sim")
    finally:
        library().call("set_fragment_layout", ctypes.c_int32(0))


@needs_simulator
def test_a_report_on_a_metal_device_has_family_and_limits(no_rates, monkeypatch):
    monkeypatch.setattr(doctor, "CHECKS", ())
    text = str(doctor.examine("metal-sim"))
    for line in ("- family: 9", "- metal4: yes", "- threadgroup memory: 32768", "| limits | ok |"):
        assert line in text
    assert "| fragment layout | ok |" in text
