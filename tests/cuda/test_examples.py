"""Each example's script on CUDA: the file that runs on the CPU and on `metal-sim`, unchanged."""

import os
import pathlib
import subprocess
import sys

import pytest

SCRIPTS = sorted((pathlib.Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_script_runs_and_reports(script):
    environment = {**os.environ, "ENCELADUS_DEVICE": "cuda:0"}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
