"""For every Python test: caches of their own, so that nothing of the user's is read or written; and
processes whose CUDA driver is the stand-in of tests/fake_cuda."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

FAKE_CUDA = Path(__file__).parents[1] / "fake_cuda" / "fake_cuda.cpp"


@pytest.fixture(scope="session", autouse=True)
def private_caches(tmp_path_factory):
    before = os.environ.get("ENCELADUS_CACHE_DIR")
    os.environ["ENCELADUS_CACHE_DIR"] = str(tmp_path_factory.mktemp("enceladus-cache"))
    yield
    if before is None:
        del os.environ["ENCELADUS_CACHE_DIR"]
    else:
        os.environ["ENCELADUS_CACHE_DIR"] = before


@pytest.fixture(scope="session")
def fake_cuda_folder(tmp_path_factory):
    """A folder with the stand-in under the driver's name."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None or sys.platform != "linux":
        pytest.skip("the stand-in for the driver needs a C++ compiler and Linux")
    folder = tmp_path_factory.mktemp("fake_cuda")
    flags = ["-std=c++20", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"]
    library = str(folder / "libcuda.so.1")
    subprocess.run([compiler, *flags, str(FAKE_CUDA), "-o", library], check=True)
    return folder


@pytest.fixture
def run_on_fake_cuda(fake_cuda_folder, tmp_path):
    """Runs Python text in a process of its own; its output."""

    def call(text, **settings):
        (tmp_path / "script.py").write_text(textwrap.dedent(text))
        environment = {
            **{name: value for name, value in os.environ.items() if name != "ENCELADUS_DEVICE"},
            "LD_LIBRARY_PATH": str(fake_cuda_folder),
            "ENCELADUS_CACHE_DIR": str(tmp_path / "cache"),
            "FAKE_CUDA_JOURNAL": str(tmp_path / "journal"),
            **settings,
        }
        command = [sys.executable, str(tmp_path / "script.py")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    call.journal = lambda: (tmp_path / "journal").read_text().splitlines()
    return call
