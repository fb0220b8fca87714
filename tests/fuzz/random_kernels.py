"""Random kernels, compared between a compiled target and the interpreter, bit for bit.

Only operations whose result section 2.1 of the language fixes exactly are drawn, under
`math_mode="precise"`, so that any difference is a mistake of one of the two. A kernel is its seed
and its length; the kernel of a smaller length is a prefix, which is how a failure is shrunk.

    ./dev run python tests/fuzz/random_kernels.py --first 0 --count 1000

Not here: kernels that the compiler must refuse, and accuracy of inexact functions.
"""

import argparse
import linecache
import os
import random
import sys
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

import enceladus
import enceladus.language as tl
from enceladus.interpreter.promotion import common_type, weak_type

BLOCK = 64
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
TYPES = (*INTEGERS, *FLOATS)
SMALLEST = 1e-40  # a denormal
SQUARE = f"(8, {BLOCK // 8})"


@dataclass
class Variable:
    """A name of the kernel with its type; a scalar where it is no tile of BLOCK elements."""

    name: str
    dtype: str
    is_tile: bool


@dataclass
class Program:
    """The kernel as it grows.

    Attributes:
        draw: the source of every choice.
        inputs: dtype of each input array.
        lines: statements with their indentation.
        variables: what expressions may use.
    """

    draw: random.Random
    inputs: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    indent: int = 1

    def add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def define(self, expression: str, dtype: str, is_tile: bool) -> Variable:
        """Assigns an expression to a new name, and has the compiler check its type."""
        variable = Variable(f"v{len(self.variables)}", dtype, is_tile)
        self.add(f"{variable.name} = {expression}")
        self.add(f"tl.static_assert({variable.name}.dtype == tl.{dtype})")
        self.variables.append(variable)
        return variable

    def pick(self, kind: str = "any", tile: bool | None = None) -> Variable:
        """A variable of a kind (int, float, number, any); made by a cast where there is none."""
        groups = {"int": INTEGERS, "float": FLOATS, "number": TYPES, "any": (*TYPES, "int1")}
        fitting = [
            variable
            for variable in self.variables
            if variable.dtype in groups[kind] and tile in (None, variable.is_tile)
        ]
        if fitting:
            # Late ones more often, so that chains grow long.
            return self.draw.choice(fitting[-6:] if self.draw.random() < 0.7 else fitting)
        base = next(v for v in self.variables if tile in (None, v.is_tile))
        target = self.draw.choice(groups[kind])
        return self.define(f"{base.name}.to(tl.{target})", target, base.is_tile)


def result_type(left: str, right: str, keep_bool: bool = False) -> str:
    """The type of an operation on two typed operands."""
    result = common_type(tl.core.dtype(left), tl.core.dtype(right), keep_bool=True).name
    return "int32" if result == "int1" and not keep_bool else result


def operand(program: Program, other: Variable, kind: str) -> tuple[str, str, bool]:
    """A second operand (text, type beside `other`, whether a tile): a variable or a literal."""
    if program.draw.random() < 0.3:
        literals = [1, 3, 7, 100, 1000] if kind == "int" else [2, 0.5, -3.0, 100.25]
        literal = program.draw.choice(literals)
        if kind == "int" and not other.dtype.startswith("u") and program.draw.random() < 0.3:
            literal = -literal
        own = weak_type(literal, tl.core.dtype(other.dtype), keep_bool=False).name
        return f"({literal})", own, False
    variable = program.pick(kind)
    return variable.name, variable.dtype, variable.is_tile


def integer_operation(program: Program) -> None:
    x = program.pick("int")
    y, own, is_tile = operand(program, x, "int")
    dtype, tile = result_type(x.dtype, own), x.is_tile or is_tile
    choice = program.draw.choice(["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"])
    if choice in ("//", "%"):
        program.define(f"{x.name} {choice} ({y} | 1)", dtype, tile)
    elif choice in ("<<", ">>"):
        amount = program.pick("int")
        dtype = result_type(x.dtype, amount.dtype)
        tile = x.is_tile or amount.is_tile
        program.define(f"{x.name} {choice} ({amount.name} & 7)", dtype, tile)
    else:
        program.define(f"{x.name} {choice} {y}", dtype, tile)


def float_operation(program: Program) -> None:
    x = program.pick("float")
    y, own, is_tile = operand(program, x, "float")
    dtype, tile = result_type(x.dtype, own), x.is_tile or is_tile
    # A function gives a literal a type of its own, so a literal divisor stays as it is.
    divisor = y if y.startswith("(") else f"tl.abs({y}) + 1"
    choice = program.draw.choice(["+", "-", "*", "%", "div_rn", "maximum", "minimum", "fma"])
    if choice in ("maximum", "minimum"):
        program.define(f"tl.{choice}({x.name}, {y})", dtype, tile)
    elif choice == "div_rn":
        program.define(f"tl.div_rn({x.name}, {divisor})", dtype, tile)
    elif choice == "fma" and dtype == "float32":
        program.define(f"tl.fma({x.name}, {y}, {x.name})", dtype, tile)
    elif choice == "%":
        program.define(f"{x.name} % ({divisor})", dtype, tile)
    else:
        program.define(f"{x.name} {choice if choice != 'fma' else '+'} {y}", dtype, tile)


def mixed_operation(program: Program) -> None:
    x, y = program.pick("number"), program.pick("number")
    choice = program.draw.choice(["+", "-", "*"])
    tile = x.is_tile or y.is_tile
    program.define(f"{x.name} {choice} {y.name}", result_type(x.dtype, y.dtype), tile)


def comparison(program: Program) -> None:
    x, y = program.pick("number"), program.pick("number")
    choice = program.draw.choice(["==", "!=", "<", "<=", ">", ">="])
    program.define(f"{x.name} {choice} {y.name}", "int1", x.is_tile or y.is_tile)


def selection(program: Program) -> None:
    condition, x, y = program.pick(), program.pick("number"), program.pick("number")
    tile = condition.is_tile or x.is_tile or y.is_tile
    test = condition.name if condition.dtype == "int1" else f"{condition.name} > 0"
    dtype = result_type(x.dtype, y.dtype)
    program.define(f"tl.where({test}, {x.name}, {y.name})", dtype, tile)


def conversion(program: Program) -> None:
    x = program.pick()
    target = program.draw.choice((*TYPES, "int1"))
    program.define(f"{x.name}.to(tl.{target})", target, x.is_tile)


def unary(program: Program) -> None:
    choice = program.draw.choice(["-", "~", "abs", "floor", "ceil", "sqrt_rn", "**2", "**3"])
    if choice == "~":
        x = program.pick("int")
        program.define(f"~{x.name}", x.dtype, x.is_tile)
    elif choice in ("floor", "ceil", "sqrt_rn"):
        x = program.pick("float")
        program.define(f"tl.{choice}({x.name})", x.dtype, x.is_tile)
    else:
        x = program.pick("number")
        text = {"-": "-{}", "abs": "tl.abs({})", "**2": "{}**2", "**3": "{}**3"}[choice]
        program.define(text.format(x.name), x.dtype, x.is_tile)


def reduction(program: Program) -> None:
    choice = program.draw.choice(["max", "min", "argmax", "argmin", "sum", "xor_sum"])
    x = program.pick("int" if choice.endswith("sum") else "number", tile=True)
    narrow = x.dtype in ("int8", "int16", "uint8", "uint16")
    dtype = "int32" if "arg" in choice or (choice == "sum" and narrow) else x.dtype
    if program.draw.random() < 0.5:
        program.define(f"tl.{choice}({x.name}, axis=0)", dtype, False)
        return
    axis = program.draw.choice((0, 1))
    rows = f"tl.{choice}(tl.reshape({x.name}, {SQUARE}), axis={axis}, keep_dims=True)"
    flat = f"tl.reshape(tl.broadcast_to({rows}, {SQUARE}), ({BLOCK},))"
    program.define(flat, dtype, True)


def rearrangement(program: Program) -> None:
    x = program.pick("any", tile=True)
    square = f"tl.reshape({x.name}, {SQUARE})"
    program.define(f"tl.reshape(tl.trans({square}), ({BLOCK},))", x.dtype, True)


def scan(program: Program) -> None:
    x = program.pick("int", tile=True)
    narrow = x.dtype in ("int8", "int16", "uint8", "uint16")
    reverse = program.draw.choice((True, False))
    choice = program.draw.choice(("cumsum", "cumprod"))
    dtype = "int32" if narrow else x.dtype
    program.define(f"tl.{choice}({x.name}, axis=0, reverse={reverse})", dtype, True)


def update(program: Program, target: Variable) -> None:
    """Changes a variable in place, keeping its type and, for a scalar, its shape."""
    other = program.pick("number", tile=None if target.is_tile else False)
    choice = program.draw.choice(["+", "-", "*"])
    changed = f"({target.name} {choice} {other.name}).to(tl.{target.dtype})"
    program.add(f"{target.name} = {changed}")


def block(program: Program, target: Variable) -> None:
    """One or two updates, one level deeper."""
    program.indent += 1
    for _ in range(program.draw.choice((1, 2))):
        update(program, target)
    program.indent -= 1


def loop(program: Program) -> None:
    target = program.pick("number")
    if not target.is_tile:
        program.pick("number", tile=False)
    bound = program.draw.choice(["3", "count", "1"])
    program.add(f"for i in range({bound}):")
    block(program, target)
    if program.draw.random() < 0.5:
        program.indent += 1
        program.add(f"if i == {program.draw.choice((0, 1))}:")
        block(program, target)
        program.indent -= 1


def branch(program: Program) -> None:
    condition = program.pick("number", tile=False)
    target = program.pick("number")
    program.add(f"if {condition.name} > {program.draw.choice((0, 1, 3))}:")
    block(program, target)
    if program.draw.random() < 0.6:
        program.add("else:")
        block(program, target)


STATEMENTS = (
    [integer_operation] * 4
    + [float_operation] * 4
    + [mixed_operation] * 2
    + [comparison, selection, selection, conversion, conversion, unary, unary]
    + [reduction, rearrangement, scan, loop, branch]
)


def generate(seed: int, length: int) -> Program:
    """The program of a seed; a shorter length gives a prefix of its statements."""
    program = Program(random.Random(seed))
    program.inputs = [program.draw.choice(TYPES) for _ in range(3)]
    for number, dtype in enumerate(program.inputs):
        program.define(f"tl.load(x{number}_ptr + offsets, mask=mask)", dtype, True)
    program.define("count + 0", "int32", False)
    for _ in range(length):
        program.draw.choice(STATEMENTS)(program)
    return program


def source_of(program: Program, stored: list[Variable]) -> str:
    """The text of the kernel, which stores some of its variables."""
    names = [f"x{i}_ptr" for i in range(len(program.inputs))]
    names += [f"out{i}_ptr" for i in range(len(stored))]
    lines = [
        '@enceladus.jit(math_mode="precise")',
        f"def kernel({', '.join(names)}, count, n, BLOCK: tl.constexpr):",
        "    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)",
        "    mask = offsets < n",
        *program.lines,
    ]
    for i, variable in enumerate(stored):
        lines.append(f"    tl.store(out{i}_ptr + offsets, {variable.name}, mask=mask)")
    return "\n".join(lines) + "\n"


def numpy_type(name: str) -> np.dtype:
    special = {"int1": np.dtype(bool), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
    return special.get(name) or np.dtype(name)


def values(name: str, size: int, random: np.random.Generator) -> np.ndarray:
    """Values with the type's extremes among them."""
    if name in INTEGERS:
        limits = np.iinfo(name)
        result = random.integers(limits.min, limits.max, size, dtype=name, endpoint=True)
        small = random.integers(0, 10, size).astype(name)
        result = np.where(random.random(size) < 0.5, small, result)
        result[:4] = [limits.min, limits.max, 0, 1]
        return result
    with np.errstate(over="ignore"):
        result = random.standard_normal(size) * 10.0 ** random.integers(-3, 4, size)
        result[:6] = [np.nan, np.inf, -np.inf, -0.0, 65504.0, SMALLEST]
        return result.astype(numpy_type(name))


def compiled(source: str, seed: int):
    """The kernel of a text, which `linecache` knows under a name of its own."""
    filename = f"<random kernel {seed}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    scope = {"enceladus": enceladus, "tl": tl}
    exec(compile(source, filename, "exec"), scope)
    return scope["kernel"]


def differences(seed: int, length: int, launch) -> list[str]:
    """What two launches of a kernel disagree in.

    Args:
        seed: of the kernel and its inputs.
        length: number of statements.
        launch: (kernel, arguments, interpreted) -> None.
    """
    program = generate(seed, length)
    stored = program.variables[-4:]
    kernel = compiled(source_of(program, stored), seed)
    size = 2 * BLOCK - 13
    random = np.random.default_rng(seed)
    arguments = {f"x{i}_ptr": values(name, size, random) for i, name in enumerate(program.inputs)}
    arguments |= {"count": int(random.integers(0, 5)), "n": size, "BLOCK": BLOCK}
    results = []
    for interpreted in (True, False):
        outputs = {
            f"out{i}_ptr": np.zeros(size, numpy_type(variable.dtype))
            for i, variable in enumerate(stored)
        }
        launch(kernel, {**arguments, **outputs}, interpreted)
        results.append(outputs)
    return [
        f"{variable.name} ({variable.dtype}): {_difference(one, other)}"
        for variable, one, other in zip(stored, results[0].values(), results[1].values())
        if _difference(one, other)
    ]


def _difference(interpreted: np.ndarray, target: np.ndarray) -> str:
    """The first element that differs; any NaN equals any NaN."""
    wrong = (interpreted != target) & ~((interpreted != interpreted) & (target != target))
    if not wrong.any():
        return ""
    place = int(np.argmax(wrong))
    pair = f"interpreter {interpreted[place]!r}, target {target[place]!r}"
    return f"element {place} of {wrong.sum()}: {pair}"


def shortest(seed: int, length: int, launch) -> int:
    """The smallest length of a seed that still shows a difference."""
    for shorter in range(1, length):
        if differences(seed, shorter, launch):
            return shorter
    return length


def default_launch(kernel, arguments, interpreted: bool) -> None:
    """Launches on the current device, or in the interpreter."""
    # Read at each launch; the attribute of the kernel is fixed when it is made.
    os.environ["ENCELADUS_INTERPRET"] = "1" if interpreted else "0"
    kernel[(2,)](**arguments)


def main() -> int:
    """Runs seeds, prints the shortest kernel of each difference, and gives how many differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--length", type=int, default=12)
    options = parser.parse_args()
    failed = 0
    for seed in range(options.first, options.first + options.count):
        if not differences(seed, options.length, default_launch):
            continue
        failed += 1
        length = shortest(seed, options.length, default_launch)
        program = generate(seed, length)
        print(f"seed {seed} length {length}:")
        print("\n".join(differences(seed, length, default_launch)))
        print(source_of(program, program.variables[-4:]))
    print(f"{failed} of {options.count} kernels differ")
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
