"""Checks limits that no formatter knows: file length, folder READMEs, headers with a purpose."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CODE_LIMIT = 800  # lines of a source file; past 500 a warning asks for the seam
PYTHON_LIMIT = 400  # lines of a module of the package
README_LIMIT = 30  # lines of a folder's README


def tracked(*patterns: str) -> list[Path]:
    """The files git knows under these patterns."""
    names = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return [ROOT / name for name in names if (ROOT / name).exists()]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def too_long(path: Path) -> str | None:
    """A sentence where the file passes its limit; prints a warning where it comes near."""
    limit = PYTHON_LIMIT if path.is_relative_to(ROOT / "python") else CODE_LIMIT
    count = len(lines(path))
    if count > limit:
        return f"{path.relative_to(ROOT)}: {count} lines, the limit is {limit}"
    if count > 500:
        print(f"warning: {path.relative_to(ROOT)}: {count} lines; where is the seam?")
    return None


def header_problem(path: Path) -> str | None:
    """Headers open with a paragraph that says what they are for."""
    first = lines(path)[:1]
    if not first or not first[0].startswith("// "):
        return f"{path.relative_to(ROOT)}:1: a header opens with a paragraph on what it is for"
    return None


def readme_problems() -> list[str]:
    """Each folder of src, python/enceladus and tests has a README of at most 30 lines."""
    found = []
    folders = {p.parent for p in tracked("src/**/*.cpp", "src/**/*.h", "python/**/*.py")}
    # Its folders bear the names that a Metal program includes; one README above speaks for them.
    folders = {folder for folder in folders if folder.parent.name != "metal_headers"}
    for folder in sorted(folders):
        readme = folder / "README.md"
        if not readme.exists():
            found.append(f"{folder.relative_to(ROOT)}: has no README.md")
        elif len(lines(readme)) > README_LIMIT:
            found.append(f"{readme.relative_to(ROOT)}: more than {README_LIMIT} lines")
    return found


def problems() -> list[str]:
    """Every sentence to print; empty where all is well."""
    found = readme_problems()
    for path in tracked("*.cpp", "*.h", "*.py", "*.pyi"):
        found += [sentence for sentence in [too_long(path)] if sentence]
    for path in tracked("src/*.h", "src/**/*.h"):
        found += [sentence for sentence in [header_problem(path)] if sentence]
    return found


if __name__ == "__main__":
    sentences = problems()
    print("\n".join(sentences) or "style: within limits")
    sys.exit(bool(sentences))
