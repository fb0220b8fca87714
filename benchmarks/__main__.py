"""Runs benchmarks by name, all by default."""

import argparse
import importlib

SUBJECTS = (
    "elementwise",
    "softmax",
    "norms",
    "matmul",
    "attention",
    "cumsum",
    "histogram",
    "launch",
    "compile",
)


def main():
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    options = parser.parse_args()
    for name in options.subjects:
        if name not in SUBJECTS:
            parser.error(f"there is no benchmark {name!r}; there are {', '.join(SUBJECTS)}")
    for name in options.subjects or SUBJECTS:
        importlib.import_module(f"benchmarks.{name}").run(options.quick)


if __name__ == "__main__":
    main()
