"""Random structured programs over scalars: loops, branches, `break`, `continue`, early `return`,
helpers and short circuits, compiled and interpreted (where Python itself runs them).

What a program does is what it leaves in memory: each store mixes a value into a place of its own.

    ./dev run python tests/fuzz/random_control_flow.py --first 0 --count 1000

Not here: tiles, types and arithmetic (random_kernels.py).
"""

import argparse
import os
import random
import sys
from dataclasses import dataclass, field

import numpy as np
from random_kernels import compiled

NAMES = ("a", "b", "c", "d")
PLACES = 64
PROGRAMS = 3
DEPTH = 4


@dataclass
class Writer:
    """The text of one function as it grows."""

    draw: random.Random
    helpers: int
    is_kernel: bool
    lines: list[str] = field(default_factory=list)
    places: int = 0
    loops: int = 0
    counters: int = 0

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def value(self) -> str:
        return self.draw.choice((*NAMES, str(self.draw.randint(-4, 9))))

    def expression(self) -> str:
        kind = self.draw.random()
        left, right = self.draw.choice(NAMES), self.value()
        if kind < 0.55:
            return f"{left} {self.draw.choice('+-*&|^')} {right}"
        if kind < 0.65:
            return f"{self.draw.choice(('min', 'max'))}({left}, {right})"
        if kind < 0.8:
            return f"({left} if {self.condition()} else {self.draw.choice(NAMES)})"
        if kind < 0.9:
            return f"tl.load(x_ptr + ({left} & 15))"
        if self.helpers:
            return f"helper{self.draw.randrange(self.helpers)}(x_ptr, {left}, {right})"
        return f"-{left}"

    def condition(self, depth: int = 0) -> str:
        kind = self.draw.random()
        name, other = self.draw.choice(NAMES), self.value()
        if kind < 0.55 or depth > 1:
            return f"{name} {self.draw.choice(('<', '<=', '==', '!=', '>', '>='))} {other}"
        if kind < 0.65:
            return f"{self.draw.randint(-20, 0)} < {name} <= {other}"
        if kind < 0.75:
            return f"not ({self.condition(depth + 1)})"
        if kind < 0.85:
            # Only the guard keeps the load inside the array.
            return f"0 <= {name} < 16 and tl.load(x_ptr + {name}) {self.draw.choice('<>')} {other}"
        joined = self.draw.choice(("and", "or"))
        return f"({self.condition(depth + 1)}) {joined} ({self.condition(depth + 1)})"

    def store(self, depth: int) -> None:
        if not self.is_kernel:
            return
        place = f"out_ptr + {self.places % PLACES}"
        self.places += 1
        self.add(depth, f"tl.store({place}, tl.load({place}) * 3 + {self.draw.choice(NAMES)})")

    def leave(self, depth: int) -> None:
        """`break`, `continue` or `return`, as far as the place permits."""
        kinds = ["return"] + (["break", "continue"] * 2 if self.loops else [])
        kind = self.draw.choice(kinds)
        if kind == "return" and not self.is_kernel:
            kind = f"return {self.expression()}"
        self.add(depth, kind)

    def branch(self, depth: int) -> None:
        self.add(depth, f"if {self.condition()}:")
        self.block(depth + 1)
        if self.draw.random() < 0.3:
            self.add(depth, f"elif {self.condition()}:")
            self.block(depth + 1)
        if self.draw.random() < 0.5:
            self.add(depth, "else:")
            self.block(depth + 1)

    def loop(self, depth: int) -> None:
        self.counters += 1
        counter = f"i{self.counters}"
        kind = self.draw.random()
        if kind < 0.3:
            self.add(depth, f"{counter} = 0")
            self.add(depth, f"while {counter} < 5 and ({self.condition()}):")
            self.add(depth + 1, f"{counter} += 1")
        elif kind < 0.45:
            self.add(depth, f"{counter} = 0")
            self.add(depth, "while True:")
            self.add(depth + 1, f"{counter} += 1")
            self.add(depth + 1, f"if {counter} > {self.draw.randint(1, 4)}:")
            self.add(depth + 2, "break")
        elif kind < 0.6:
            bounds = self.draw.choice(("3", "1, 4", "4, 0, -2"))
            self.add(depth, f"for {counter} in tl.static_range({bounds}):")
        else:
            name = self.draw.choice(NAMES)
            bounds = self.draw.choice(("{0} & 3", "-2, {0} & 3", "{0} & 7, 0, -2", "0, 9, 4"))
            self.add(depth, f"for {counter} in range({bounds.format(name)}):")
        self.loops += 1
        if self.draw.random() < 0.5:
            self.add(depth + 1, f"{self.draw.choice(NAMES)} += {counter}")
        self.block(depth + 1)
        self.loops -= 1

    def statement(self, depth: int) -> None:
        kind = self.draw.random()
        if depth <= DEPTH and kind < 0.2:
            self.branch(depth)
        elif depth <= DEPTH and kind < 0.35:
            self.loop(depth)
        elif depth > 1 and kind < 0.45:
            # Under a condition more often than not, so that something follows.
            if self.draw.random() < 0.7:
                self.add(depth, f"if {self.condition()}:")
                self.leave(depth + 1)
            else:
                self.leave(depth)
        elif kind < 0.6:
            self.store(depth)
            self.add(depth, f"{self.draw.choice(NAMES)} = {self.expression()}")
        elif kind < 0.7:
            one, other = self.draw.sample(NAMES, 2)
            self.add(depth, f"{one}, {other} = {other}, {self.expression()}")
        elif kind < 0.8:
            self.add(depth, f"{self.draw.choice(NAMES)} {self.draw.choice('+-^')}= {self.value()}")
        else:
            self.add(depth, f"{self.draw.choice(NAMES)} = {self.expression()}")

    def block(self, depth: int) -> None:
        for _ in range(self.draw.randint(1, 3)):
            self.statement(depth)


def helper_text(draw: random.Random, index: int) -> list[str]:
    """A function of three values that returns on every path, early on some."""
    writer = Writer(draw, helpers=index, is_kernel=False)
    writer.add(0, "@enceladus.jit")
    writer.add(0, f"def helper{index}(x_ptr, a, b):")
    writer.add(1, "c = a - b")
    writer.add(1, "d = b ^ 5")
    for _ in range(draw.randint(1, 3)):
        writer.statement(1)
    writer.add(1, f"return {writer.expression()}")
    return writer.lines


def source_of(seed: int, length: int) -> str:
    """The program of a seed: two helpers and a kernel of `length` outer statements."""
    draw = random.Random(seed)
    lines = [line for index in range(2) for line in helper_text(draw, index)]
    writer = Writer(draw, helpers=2, is_kernel=True)
    writer.add(0, "@enceladus.jit")
    writer.add(0, "def kernel(x_ptr, out_ptr, a, b):")
    writer.add(1, f"out_ptr += tl.program_id(0) * {PLACES}")
    writer.add(1, "c = tl.load(x_ptr + tl.program_id(0))")
    writer.add(1, "d = tl.load(x_ptr + tl.program_id(0) + 3)")
    for _ in range(length):
        writer.statement(1)
        writer.store(1)
    return "\n".join(lines + writer.lines) + "\n"


def differences(seed: int, length: int, launch) -> list[str]:
    """The places of memory in which the interpreter and the target disagree.

    Args:
        seed: of the program and its inputs.
        length: number of outer statements.
        launch: (kernel, grid, arguments, interpreted) -> None.
    """
    kernel = compiled(source_of(seed, length), seed)
    numbers = np.random.default_rng(seed)
    x = numbers.integers(-6, 17, 16).astype(np.int32)
    a, b = (int(value) for value in numbers.integers(-5, 20, 2))
    results = []
    for interpreted in (True, False):
        out = np.zeros(PLACES * PROGRAMS, np.int32)
        launch(kernel, (PROGRAMS,), {"x_ptr": x, "out_ptr": out, "a": a, "b": b}, interpreted)
        results.append(out)
    wrong = np.flatnonzero(results[0] != results[1])
    return [
        f"program {place // PLACES} place {place % PLACES}: interpreter {results[0][place]}, "
        f"target {results[1][place]}"
        for place in wrong[:4]
    ]


def default_launch(kernel, grid, arguments, interpreted: bool) -> None:
    """Launches on the current device, or in the interpreter."""
    # Read at each launch; the attribute of the kernel is fixed when it is made.
    os.environ["ENCELADUS_INTERPRET"] = "1" if interpreted else "0"
    kernel[grid](**arguments)


def main() -> int:
    """Runs seeds, prints the shortest program of each difference, and counts them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--length", type=int, default=5)
    options = parser.parse_args()
    failed = 0
    for seed in range(options.first, options.first + options.count):
        if not differences(seed, options.length, default_launch):
            continue
        failed += 1
        lengths = range(1, options.length + 1)
        length = next(n for n in lengths if differences(seed, n, default_launch))
        found = differences(seed, length, default_launch)
        print(f"seed {seed} length {length}:", *found, source_of(seed, length), sep="\n")
    print(f"{failed} of {options.count} programs differ")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
