"""Prints what one extra of pyproject.toml requires, or `build`: what the native build needs."""

import re
import sys
from pathlib import Path


def requirements(extra: str) -> list[str]:
    """The lines that pip understands; `build` adds CMake, Ninja and the package's own needs."""
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text()
    lists = dict(re.findall(r"^([\w-]+) = \[(.*?)\]", text, re.MULTILINE | re.DOTALL))
    if extra == "build":
        names = ["requires", "dependencies"]
        extras = ["cmake>=3.25", "ninja"]
    elif extra in lists:
        names = [extra]
        extras = []
    else:
        sys.exit(f"requirements: pyproject.toml has no extra `{extra}`")
    found = [item for name in names for item in re.findall(r'"([^"]+)"', lists[name])]
    return found + extras


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1])))
