"""`pip install .` in a plain virtual environment gives a package that compiles and runs kernels.

The wheel is made from the native build that the tests themselves run on, so that nothing is
compiled twice. The environment holds what the package says that it needs, and nothing else: linked
from the environment of the tests, since that needs no network.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ("numpy", "ml_dtypes")

PROGRAM = """
import sys
import numpy as np
import enceladus
import enceladus.language as tl

@enceladus.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + tl.load(y_ptr + offsets, mask=mask), mask=mask)

x, y = np.random.rand(2, 10_000).astype(np.float32)
out = np.empty_like(x)
add[lambda meta: (enceladus.cdiv(x.size, meta["BLOCK"]),)](x, y, out, x.size, BLOCK=1024)
assert np.array_equal(out, x + y)
assert "torch" not in sys.modules
print(enceladus.__file__)
"""


def build_folder():
    """The folder of the native build that is in use; None where there is none."""
    chosen = os.environ.get("ENCELADUS_BUILD")
    folders = [Path(chosen)] if chosen else [ROOT / "build" / "dev", ROOT / "build"]
    return next((folder for folder in folders if (folder / "build.ninja").exists()), None)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def make_wheel(folder):
    options = ["--no-deps", "--no-build-isolation", "--no-cache-dir", "--wheel-dir", folder]
    options += ["--config-settings", f"build-dir={build_folder()}"]
    options += ["--config-settings", "build.targets=_core"]
    run(sys.executable, "-m", "pip", "wheel", *options, ROOT)
    (wheel,) = Path(folder).glob("enceladus-*.whl")
    return wheel


def make_environment(folder):
    """A virtual environment with NEEDED alone; its interpreter."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    paths = {"base": str(folder), "platbase": str(folder)}
    target = Path(sysconfig.get_path("purelib", "venv", paths))
    source = Path(sysconfig.get_path("purelib"))
    for name in NEEDED:
        for found in source.glob(f"{name}*"):
            os.symlink(found, target / found.name)
    return Path(sysconfig.get_path("scripts", "venv", paths)) / "python"


@pytest.mark.skipif(build_folder() is None, reason="no native build to make a wheel from")
def test_an_installed_wheel_runs_a_kernel_in_a_plain_environment(tmp_path):
    wheel = make_wheel(tmp_path / "wheel")
    python = make_environment(tmp_path / "plain")
    pip = (sys.executable, "-m", "pip", "--python", str(python))
    run(*pip, "install", "--no-deps", "--no-index", "-q", str(wheel))
    run(*pip, "check")
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    where = run(python, "-P" if sys.version_info >= (3, 11) else "-B", script, env=clean)
    assert where.startswith(str(tmp_path))
