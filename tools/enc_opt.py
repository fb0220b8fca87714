"""Runs passes over a kernel in tile IR text and prints what comes out.

    python tools/enc_opt.py kernel.enc fold dce      # `-` reads standard input
    python tools/enc_opt.py kernel.enc               # all passes in their order

Every state is verified. A text test's expectation (`// ---- after`) is not part of the kernel.
"""

import argparse
import sys
from pathlib import Path

from enceladus import _core


def main() -> int:
    """Reads the arguments, runs the passes; 1 where the text or a pass's result is malformed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument(
        "passes",
        nargs="*",
        default=["optimize"],
        metavar="pass",
        help=", ".join(_core.pass_names()),
    )
    arguments = parser.parse_args()
    text = sys.stdin.read() if arguments.file == "-" else Path(arguments.file).read_text()
    try:
        print(_core.opt(text.split("// ---- after")[0], arguments.passes), end="")
    except ValueError as error:
        print(f"{arguments.file}:{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
