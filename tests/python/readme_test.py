"""The programs in README.md, docs/guide.md and docs/metal.md run as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

from needs import needs_simulator

ROOT = Path(__file__).parents[2]

# What the guide's kernel is launched on.
GUIDE_ARRAYS = """
import numpy as np

rows, columns = 100, 300
x = np.random.rand(rows, columns).astype(np.float32)
out = np.empty_like(x)
"""
GUIDE_CHECK = """
expected = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
assert np.allclose(out, expected, rtol=1e-5)
"""


# What stands above the race of docs/metal.md, so that its lines have the numbers given there.
RACE_HEAD = """import numpy as np

import enceladus
import enceladus.language as tl
"""
METAL_HEAD = """import numpy as np
import enceladus

enceladus.set_device("metal-sim")
x = np.ones(1024, np.float32)
"""
METAL_CHECK = """
assert (x == 2).all()
"""


def programs(page):
    """The Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


def run(text, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_program_of_the_readme_runs(tmp_path):
    (program,) = programs("README.md")
    run(program, tmp_path)


def test_the_first_kernel_of_the_guide_runs(tmp_path):
    run(GUIDE_ARRAYS + programs("docs/guide.md")[0] + GUIDE_CHECK, tmp_path)


def words(report):
    """A report without what a change of the compiler may number in another way."""
    return re.sub(r"MSL line \d+|\bv\d+\b", "#", " ".join(report.split()))


@needs_simulator
def test_the_race_of_the_metal_page_is_found_as_the_page_says(tmp_path):
    page = (ROOT / "docs/metal.md").read_text()
    (shown,) = re.findall(r"^```\n(enceladus\.errors\.MetalError: .*?)^```", page, re.M | re.S)
    script = tmp_path / "total.py"
    script.write_text(RACE_HEAD + programs("docs/metal.md")[0])
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 1
    report = done.stderr[done.stderr.index("enceladus.errors.MetalError") :]
    # The page leaves out the second report, of the two stores.
    assert words(report).replace(f"{tmp_path}/", "").startswith(words(shown))


@needs_simulator
def test_the_hand_written_kernel_of_the_metal_page_runs(tmp_path):
    run(METAL_HEAD + programs("docs/metal.md")[1] + METAL_CHECK, tmp_path)
