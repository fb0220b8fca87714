"""The programs in README.md and docs/guide.md run as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

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
