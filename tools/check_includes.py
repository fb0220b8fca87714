"""Checks that includes go one way: each folder of src may include only the folders below it."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src"

# Each folder and what it may include besides itself. Targets never see one another.
ALLOWED = {
    "support": [],
    "layout": ["support"],
    "ir": ["support"],
    "frontend": ["ir", "support"],
    "analysis": ["ir", "support"],
    "transforms": ["analysis", "ir", "support"],
    "lowering": ["transforms", "analysis", "ir", "layout", "support"],
    "codegen/common": ["lowering", "analysis", "ir", "layout", "support"],
    "codegen/cpu": ["codegen/common", "lowering", "transforms", "analysis", "ir", "support"],
    "codegen/metal": ["codegen/common", "lowering", "transforms", "analysis", "ir", "support"],
    "codegen/cuda": ["codegen/common", "lowering", "transforms", "analysis", "ir", "support"],
    "pipeline": [
        "codegen/common",
        "codegen/cpu",
        "codegen/cuda",
        "codegen/metal",
        "lowering",
        "transforms",
        "analysis",
        "ir",
        "support",
    ],
    "runtime/common": ["support"],
    "runtime/cpu": ["runtime/common", "support"],
    "runtime/metal": ["runtime/common", "support"],
    "runtime/cuda": ["runtime/common", "support"],
    "simulator": ["support"],
    "bindings": [
        "pipeline",
        "frontend",
        "codegen/cpu",
        "transforms",
        "analysis",
        "ir",
        "runtime/common",
        "runtime/cpu",
        "runtime/metal",
        "runtime/cuda",
        "support",
    ],
}


def folder_of(path: str) -> str | None:
    """The longest entry of ALLOWED that holds the path, or None for a system header."""
    matches = [folder for folder in ALLOWED if path.startswith(folder + "/")]
    return max(matches, key=len, default=None)


def violations() -> list[str]:
    """One sentence for each include against the order."""
    found = []
    for source in sorted([*ROOT.rglob("*.h"), *ROOT.rglob("*.cpp")]):
        name = source.relative_to(ROOT).as_posix()
        folder = folder_of(name)
        if folder is None:
            found.append(f"src/{name}: its folder is not listed in tools/check_includes.py")
            continue
        for number, line in enumerate(source.read_text().splitlines(), 1):
            match = re.match(r'#include "([^"]+)"', line)
            target = folder_of(match[1]) if match else None
            if target and target != folder and target not in ALLOWED[folder]:
                found.append(f"src/{name}:{number}: {folder} must not include {match[1]}")
    return found


if __name__ == "__main__":
    problems = violations()
    print("\n".join(problems) or "includes: in order")
    sys.exit(bool(problems))
